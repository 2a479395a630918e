"""Bad inputs as a user would give them by hand: what was typed, in a folder with some good and bad files in it.

``python -m tests.hostile.hand`` types them all and writes what was printed and the exit code to
``tests/cases/hostile/hand.jsonl``, from where the document takes it.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from click.testing import CliRunner

from spider.cli import main
from spider.store import Database
from tests.conftest import ROOT

__all__ = ["ATTEMPTS", "RECORD", "Answer", "furnish", "recorded", "typed"]

RECORD = ROOT / "tests" / "cases" / "hostile" / "hand.jsonl"
MOST = 240  # characters of what was printed that are kept
SUMMARY = ("0 pages", "done;", "next:")  # the last lines of any crawl
CHANGING = (  # what differs from one machine, or moment, to the next
    (re.compile(r"has no address: [^\n]*"), "has no address: Name or service not known"),
)

ATTEMPTS = r"""
crawl
crawl ''
crawl none.txt
crawl museum.example
crawl ftp://museum.example/
crawl http://
crawl 'http://[::1'
crawl 'http://a b/'
crawl http://user:secret@127.0.0.1:9/ --delay 0
crawl http://127.0.0.1:99999/
crawl http://127.0.0.1:25/ --delay 0
crawl http://nowhere.invalid/ --retries 0 --delay 0
crawl http://127.0.0.1:9/ --retries 0 --delay 0
crawl javascript:alert(1)
crawl mailto:curator@museum.example
crawl file:///etc/passwd
crawl empty.txt
crawl comments.txt
crawl binary.txt
crawl utf16.txt
crawl latin1.txt
crawl bad-line.txt
crawl bad-option.txt
crawl .
crawl /dev/null
crawl $'\e[2J'
crawl --depth -1 http://museum.example/
crawl --depth many http://museum.example/
crawl --depth 1e9 http://museum.example/
crawl --depht 3 http://museum.example/
crawl --scope everything http://museum.example/
crawl --include '(' http://museum.example/
crawl --include '(?=a)' http://museum.example/
crawl --exclude '(a+)\1' http://museum.example/
crawl --exclude 'a{1000}{1000}' http://museum.example/
crawl --max-size 0 http://museum.example/
crawl --max-size 10X http://museum.example/
crawl --max-time yesterday http://museum.example/
crawl --timeout 0 http://museum.example/
crawl --delay nan http://museum.example/
crawl --threads 99999 http://museum.example/
crawl --header 'no colon' http://museum.example/
crawl --header 'Cookie: a=b' http://museum.example/
crawl --header $'X: a\nY: b' http://museum.example/
crawl --cookies none.txt http://museum.example/
crawl --cookies binary.txt http://museum.example/
crawl --cookies bad-cookies.txt http://museum.example/
crawl --auth museum.example http://museum.example/
crawl --proxy socks5://127.0.0.1:1 http://museum.example/
crawl --proxy 'http://user:secret@' http://museum.example/
crawl --min-free 900000000G http://museum.example/
crawl --log nowhere/x.log http://museum.example/
--db none.db report
--db empty.db report
--db text.db report
--db other.db report
--db newer.db report
--db cut.db report
--db . report
--db nowhere/x.db crawl http://museum.example/
--db mysql://user:secret@host/x report
--db 'sqlite:///x.db?mode=ro' report
--config none.toml status
--config bad.toml status
--config unknown.toml status
--config binary.txt status
report --format xml
report --media films
report --match '['
report --seed http://elsewhere.example/
report -o nowhere/report.html
report -o spider.db
errors --reason tired
skipped --rule nonsense
why 'http://['
why http://never.example/
forget ''
forget 'http://['
retry --reason tired
seeds add ''
seeds add 'http://['
seeds remove http://never.example/
seeds confirm http://never.example/
db check none.db
db backup good.db
db backup nowhere/copy.db
db backup .
url 'http://['
url ''
url --base 'http://[' a
links none.html
links binary.txt
links bomb.html.gz
links --type nonsense/x empty.txt
map 'http://['
map http://nowhere.invalid/ --retries 0
robots 'http://['
robots ''
export links --format pdf
export pages
export urls -o good.db
tree --depth -1
tree --seed http://elsewhere.example/
demo --port 99999
crwl
--version --nonsense
''
""".strip().splitlines()


@dataclass(frozen=True, slots=True)
class Answer:
    """What was typed, the exit code, and what was printed on both streams."""

    typed: str
    code: int
    printed: str


def furnish(folder: Path) -> None:
    """Put the good and bad files into a folder."""
    for name, body in {
        "empty.txt": b"",
        "comments.txt": b"# nothing yet\n",
        "binary.txt": b"\x7fELF\x02\0\0\0\xff\xfe",
        "utf16.txt": "http://museum.example/\n".encode("utf-16"),
        "latin1.txt": "http://museum.example/caf\xe9\n".encode("latin-1"),
        "bad-line.txt": b"http://museum.example/\nhttp://muse um.example/\n",
        "bad-option.txt": b"http://museum.example/ depth=deep\n",
        "bad-cookies.txt": b"museum.example\tname\tvalue\n",
        "bad.toml": b"depth = = 3\n",
        "unknown.toml": b"dpeth = 3\n",
        "empty.db": b"",
        "text.db": b"not a database, but long enough to be taken for one" * 10,
        "bomb.html.gz": gzip.compress(b"<p>" * 1_000_000),
    }.items():
        (folder / name).write_bytes(body)
    Database.open(str(folder / "good.db")).close()
    for name in ("newer.db", "cut.db", "spider.db"):
        (folder / name).write_bytes((folder / "good.db").read_bytes())
    (folder / "cut.db").write_bytes((folder / "good.db").read_bytes()[:5000])
    with sqlite3.connect(folder / "newer.db") as newer:
        newer.execute("UPDATE alembic_version SET version_num = '9999'")
    newer.close()
    with sqlite3.connect(folder / "other.db") as other:
        other.execute("CREATE TABLE notes (text)")
    other.close()


def typed(line: str) -> Answer:
    """Type a line after ``spider`` in the folder at hand, and return what came of it."""
    words = shlex.split(re.sub(r"\$'(.*?)'", lambda found: shlex.quote(_escaped(found[1])), line))
    done = CliRunner().invoke(main, words, env={name: None for name in os.environ if name.startswith("SPIDER_")})
    return Answer(line, done.exit_code, _shown(done.output))


def _escaped(text: str) -> str:
    return text.replace(r"\e", "\x1b").replace(r"\n", "\n")


def _shown(text: str) -> str:
    lines = [line for line in text.split("\n") if not line.startswith(SUMMARY)]
    text = "\n".join(lines).rstrip("\n")
    for pattern, words in CHANGING:
        text = pattern.sub(words, text)
    return text if len(text) <= MOST else f"{text[:MOST]}…"


def answers() -> Iterator[Answer]:
    """Type every line, each in a fresh folder."""
    here = Path.cwd()
    for line in ATTEMPTS:
        with tempfile.TemporaryDirectory() as folder:
            furnish(Path(folder))
            os.chdir(folder)
            try:
                yield typed(line)
            finally:
                os.chdir(here)


def recorded() -> list[Answer]:
    """Return what was written down."""
    return [Answer(**json.loads(line)) for line in RECORD.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    lines = [json.dumps(asdict(one), ensure_ascii=False) for one in answers()]
    RECORD.write_text("\n".join(lines) + "\n", encoding="utf-8")
