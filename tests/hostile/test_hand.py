"""Bad inputs tried by hand: each is answered by clear lines and its code, and by no trace; the document shows them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.hostile import hand
from tests.hostile.hand import ATTEMPTS, Answer

CODES = {0, 2, 3, 5, 7}


@pytest.mark.parametrize("answer", hand.recorded(), ids=lambda answer: answer.typed or "nothing")
def test_what_is_printed(answer: Answer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written down is what is printed; the files that were there are there, and whole."""
    hand.furnish(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.suffix != ".db"}
    assert hand.typed(answer.typed) == answer
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name in before} == before
    assert (tmp_path / "good.db").read_bytes()[:6] == b"SQLite"


def test_the_record_is_whole() -> None:
    """Every attempt is written down, more than sixty of them, each with a code of the list and no trace."""
    recorded = hand.recorded()
    assert [answer.typed for answer in recorded] == list(ATTEMPTS)
    assert len(recorded) >= 60
    for answer in recorded:
        assert answer.code in CODES
        assert answer.printed
        assert "Traceback" not in answer.printed
        assert "internal error" not in answer.printed
        assert "secret" not in answer.printed
        assert all(character.isprintable() or character == "\n" for character in answer.printed)
    assert os.sep == "/"
