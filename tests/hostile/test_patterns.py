"""Laws of users' regular expressions: no expression and no text together take more than linear time."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider.crawl import Plan
from spider.crawl.scope import Judge, SeedScope
from spider.errors import SettingError
from spider.model import Accepted, Rejected, Scope
from spider.patterns import MAX_LENGTH, Pattern

EVIL = ["(a+)+$", "(a|a)*$", "(a|aa)+$", "(.*)*x$", "(a*)*b", "^(([a-z])+.)+[A-Z]([a-z])+$", "(a?){60}a{60}$"]
ROOT = "http://h.test/"


@pytest.mark.parametrize("text", EVIL)
def test_evil_expressions_are_linear(text: str) -> None:
    """Expressions that take Python's engine longer than the universe will last are answered at once."""
    pattern = Pattern.of(text)
    began = time.process_time()
    for _ in range(100):
        pattern.search(f"http://h.test/{'a' * 8000}!")
    assert time.process_time() - began < 5.0


def test_a_crawl_s_scope_is_linear() -> None:
    """`--include` and `--exclude` judge a page's longest links at once."""
    pattern = Pattern.of("(a+)+$")
    judge = Judge([SeedScope(1, ROOT, Scope.ANY, 5, exclude=(pattern,))])
    began = time.process_time()
    for number in range(200):
        link = f"{ROOT}{'a' * 8000}!{number}"
        assert judge.judge(link, ROOT, seed_id=1, depth=1) == Accepted(1)
    assert judge.judge(f"{ROOT}aaa", ROOT, seed_id=1, depth=1) == Rejected("exclude")
    assert time.process_time() - began < 5.0


RULE = "(expressions are RE2's: no look-around, no back-references)"

BAD = [
    ("(", "'(' is not a regular expression: missing ), unterminated subpattern at position 0"),
    ("a[z-a]", "'a[z-a]' is not a regular expression: bad character range z-a at position 2"),
    ("x(?=a)", f"'x(?=a)' cannot be used: invalid perl operator: (?= at position 1 {RULE}"),
    (r"(a)\1", rf"'(a)\\1' cannot be used: invalid escape sequence: \1 at position 3 {RULE}"),
    ("a{1000}{1000}", "'a{1000}{1000}' is not a regular expression: multiple repeat at position 7"),
    ("a{3000}", f"'a{{3000}}' cannot be used: invalid repetition size: {{3000}} at position 1 {RULE}"),
    ("a" * (MAX_LENGTH + 1), "an expression has at most 10,000 characters, not 10,001"),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[text[:20] for text, _ in BAD])
def test_what_is_none_is_one_line_with_the_place(text: str, message: str) -> None:
    """An expression that cannot be used is named with the place in it."""
    with pytest.raises(ValueError, match=re.escape(message)):
        Pattern.of(text)


def test_a_plan_names_the_setting() -> None:
    """A plan made by hand says which of its settings it was."""
    from spider.store.seeds import SeedRow  # noqa: PLC0415  # a row is all that is needed of it

    fields = dict.fromkeys(SeedRow.__annotations__)
    row = SeedRow(**{**fields, "id": 1, "url": ROOT, "landed_url": None, "options": {}})  # type: ignore[arg-type]  # the rest is not looked at
    with pytest.raises(SettingError, match=r"^exclude: '\(' is not a regular expression"):
        Plan(exclude=["("]).scope_of(row)


@given(st.text(max_size=30) | st.text(alphabet="()[]{}|*+?.^$\\ab1,-P<>=!:", max_size=25))
def test_any_text_is_an_expression_or_a_value_error(text: str) -> None:
    """Whatever a user types is an expression, or one ValueError of one line."""
    try:
        pattern = Pattern.of(text)
    except ValueError as error:
        assert "\n" not in str(error)  # noqa: PT017  # either way is right
    else:
        assert pattern.search("aab1") in {True, False}
        assert pattern == Pattern.of(text)


@given(st.lists(st.sampled_from(["a", "b", ".", "[ab]", "(?:a|b)", "a*", "b?", r"\d", "^", "$", r"\."]), max_size=8))
def test_it_finds_what_python_finds(pieces: list[str]) -> None:
    """On what both know, the two engines agree."""
    text = "".join(pieces)
    for where in ("", "ab", "aab.b1", "xx", "b.a"):
        assert Pattern.of(text).search(where) == bool(re.search(text, where))
