"""Pages that are nearly the same, told by their fingerprints."""

from __future__ import annotations

import itertools
import random
import time
from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider import page as pages
from spider.page import alike
from spider.page.alike import BANDS, NEAR, bands, distance, fingerprint

WORDS = [a + b for a in ("river", "stone", "light", "sand", "pier") for b in ("ing", "ed", "er", "ly", "ness", "ward")]
MARKS = st.integers(-(2**63), 2**63 - 1)
SEEDS = st.integers(0, 2**32)


def prose(seed: int, count: int = 600) -> list[str]:
    """Write words without meaning."""
    dice = random.Random(seed)
    return [dice.choice(WORDS) for _ in range(count)]


def links(seed: int, count: int = 40) -> list[str]:
    """Name addresses of one site."""
    dice = random.Random(seed)
    return [f"http://h.test/{dice.choice(WORDS)}/{dice.randrange(1000)}" for _ in range(count)]


def mark(text: str, places: list[str] | None = None, media: tuple[int, ...] = ()) -> int:
    """Return a fingerprint that must be there."""
    found = fingerprint(text, places or [], media)
    assert found is not None
    return found


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=400))
def test_the_sum_of_all_lanes_is_a_majority_of_each_bit(features: list[int]) -> None:
    """What is reckoned in long integers at once is what counting each bit gives."""
    counted = sum(1 << bit for bit in range(64) if 2 * sum(f >> bit & 1 for f in features) > len(features))
    assert alike._majority(array("Q", features).tobytes(), len(features)) == counted


@pytest.mark.parametrize("count", [127, 128, 129, 255, 256, 257, 12_000])
def test_no_sum_runs_over(count: int) -> None:
    """Equal features, however many, add up to themselves."""
    feature = 0xDEAD_BEEF_0123_4567
    assert alike._majority(array("Q", [feature] * count).tobytes(), count) == feature


@given(MARKS, st.sets(st.integers(0, 63), max_size=NEAR))
def test_near_fingerprints_share_a_band(one: int, bits: set[int]) -> None:
    """Fingerprints that differ in at most `NEAR` bits have a band in common, so that a look-up of bands finds them."""
    other = one ^ sum(1 << bit for bit in bits)
    assert distance(one, other) == len(bits)
    assert any(a == b for a, b in zip(bands(one), bands(other), strict=True))
    assert len(BANDS) == NEAR + 1


@given(st.text(max_size=300), st.lists(st.text(max_size=30), max_size=10), st.sets(MARKS, max_size=3))
def test_any_text_has_a_fingerprint_or_none(text: str, places: list[str], media: set[int]) -> None:
    """Nothing makes it raise; what it gives fits the database and is the same each time."""
    found = fingerprint(text, places, media)
    assert found is None or -(2**63) <= found < 2**63
    assert fingerprint(text, places, media) == found


@given(SEEDS, st.integers(0, 590), st.integers(0, 10**9), st.integers(0, 10**9))
def test_what_is_written_anew_each_time_counts_for_nothing(seed: int, place: int, one: int, other: int) -> None:
    """Numbers in the text and tokens in addresses do not change a fingerprint: clocks, counters, session ids."""
    text, places = prose(seed), links(seed)
    found = []
    for number in (one, other):
        shown = [*text[:place], f"{number}", *text[place:]]
        sid = f"http://h.test/cart?sid={number:032x}x"
        found.append(mark(" ".join(shown), [*places, sid]))
    assert found[0] == found[1]


def test_one_word_of_many_makes_a_near_page() -> None:
    """A page of two thousand words with one word exchanged is near to what it was, in nineteen of twenty cases."""
    far = 0
    for seed in range(100):
        text = prose(seed, 2000)
        other = [*text]
        other[seed * 17 % 2000] = "otherwise"
        far += distance(mark(" ".join(text)), mark(" ".join(other))) > NEAR
    assert far <= 5


@given(SEEDS, SEEDS.filter(bool))
def test_unlike_pages_are_not_near(seed: int, more: int) -> None:
    """Pages of one site, with the same frame around, of which each says something of its own, are far apart."""
    frame, places = " ".join(prose(1, 200)), links(1)
    one = mark(f"{frame} {' '.join(prose(seed, 200))}", [*places, "http://h.test/a"])
    other = mark(f"{frame} {' '.join(prose(seed + more, 200))}", [*places, "http://h.test/b"])
    assert distance(one, other) > NEAR


@given(SEEDS, st.sets(MARKS, min_size=1, max_size=4), st.sets(MARKS, max_size=4))
def test_pages_with_different_media_are_never_near(seed: int, one: set[int], other: set[int]) -> None:
    """Two pages that differ in nothing but the media they hold are two pages."""
    text = " ".join(prose(seed))
    gap = distance(mark(text, media=tuple(one)), mark(text, media=tuple(other)))
    assert gap == 0 if one == other else gap > NEAR


def test_galleries_of_other_addresses_are_not_near() -> None:
    """Two pages of a list, without a word, that lead to other pages are not near."""
    one, other = ([f"http://h.test/photo/{start + n}" for n in range(40)] for start in (0, 40))
    assert distance(mark("", one), mark("", other)) > NEAR


def test_a_page_that_says_nothing_is_like_none() -> None:
    """A few words and links are what many pages have: they have no fingerprint."""
    assert fingerprint("not found", ["http://h.test/"], ()) is None
    assert pages.read(b"<p>not found", "http://h.test/", alike=True).simhash is None


def test_text_without_spaces_has_shingles() -> None:
    """Each sign of Chinese and Japanese counts as a word, so that one more makes a near page."""
    text = "".join(chr(0x4E00 + n * 7 % 3000) for n in range(1500))
    assert distance(mark(text), mark(text[:700] + "中" + text[700:])) <= NEAR


def test_only_what_is_seen_counts() -> None:
    """Scripts, styles, comments and marks of layout are not part of a page's text; it is reckoned only when asked."""
    text = " ".join(prose(3))
    plain = f"<title>t</title><p>{text}</p>".encode()
    dressed = f"<!-- {text} --><style>p{{}}</style><script>var a = '{text[::-1]}'</script><div><p>{text}</p></div>"
    one = pages.read(plain, "http://h.test/", alike=True).simhash
    other = pages.read(dressed.encode(), "http://h.test/", alike=True).simhash
    assert one is not None
    assert one == other
    assert pages.read(plain, "http://h.test/").simhash is None


def test_real_pages_are_not_merged(shared: Path) -> None:
    """Of the pages kept as examples none is near to another, but those that are written twice."""
    files = sorted((shared / "corpus" / "pages" / "html").glob("*.html"))
    marks = []
    for file in files:
        found = pages.read(file.read_bytes(), f"http://h.test/{file.name}", alike=True).simhash
        if found is not None:
            marks.append((file.stem, found))
    near = {(a, b) for (a, one), (b, other) in itertools.combinations(marks, 2) if distance(one, other) <= 2 * NEAR}
    twice = {("cs-chromium-1251", "cs-chromium-koi8"), ("cs-bom-utf16be", "cs-bom-utf16le")}
    assert len(marks) > 100
    assert near <= twice | {("flash-embed-video", "flash-object-video")}


def test_a_fingerprint_costs_little() -> None:
    """A page of 30 kB takes a few milliseconds at most, even on a busy machine."""
    text, places = " ".join(prose(5, 4000)), links(5, 80)
    began = time.process_time()
    for _ in range(20):
        fingerprint(text, places, ())
    assert (time.process_time() - began) / 20 < 0.02
