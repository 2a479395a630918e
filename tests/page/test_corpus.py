"""The real pages, feeds, manifests and heads beside the repository, held against their expected values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spider.model import Page
from spider.page import read, sniff
from spider.page.charset import decode
from spider.page.manifests import manifest

KINDS = ("video", "audio", "flash")
SURE = {"element", "link"}


@pytest.fixture(scope="module")
def corpus(shared: Path) -> Path:
    """Return the folder of real pages; skip where it is missing."""
    folder = shared / "corpus" / "pages"
    if not folder.is_dir():
        pytest.skip(f"real pages are not here: {folder}")
    return folder


def rows(corpus: Path, name: str) -> list[dict[str, Any]]:
    """Return the expected values of one kind of file."""
    return [json.loads(line) for line in (corpus / name).read_text(encoding="utf-8").splitlines()]


def read_row(corpus: Path, row: dict[str, Any]) -> Page:
    """Read a row's document as it was served."""
    return read((corpus / row["file"]).read_bytes(), row["base_url"], content_type=row.get("content_type"))


def sure(page: Page, kind: str) -> set[str]:
    """Return the addresses of the media of a kind that stand in elements or links."""
    return {medium.url for medium in page.media if medium.kind == kind and medium.confidence in SURE}


def test_media_of_real_pages(corpus: Path) -> None:
    """Every medium in markup is found with its kind, and nothing else is."""
    missing, wrong = [], []
    for row in rows(corpus, "truth.jsonl"):
        page = read_row(corpus, row)
        maybe = {(one["kind"], one["url"]) for one in row.get("optional", ())}
        either = row.get("any_of", [])
        maybe |= {(one["kind"], url) for one in either for url in one["urls"]}
        for kind in KINDS:
            found, wanted = sure(page, kind), set(row[kind])
            missing += [f"{row['id']}: {kind} {url}" for url in wanted - found]
            wrong += [f"{row['id']}: {kind} {url}" for url in found - wanted if (kind, url) not in maybe]
        missing += [
            f"{row['id']}: one of {one['urls']}" for one in either if not sure(page, one["kind"]) & set(one["urls"])
        ]
    assert (missing, wrong) == ([], [])


def test_media_told_otherwise(corpus: Path) -> None:
    """Media in metadata, scripts and attributes and embedded players are found, and never as sure as an element."""
    missing = []
    for row in rows(corpus, "truth.jsonl"):
        told = {medium.url: medium for medium in read_row(corpus, row).media}
        for key, urls in row.items():
            if key.endswith(("_meta", "_script")) or key == "player_embeds":
                missing += [f"{row['id']}: {key} {url}" for url in urls if url not in told]
            if key.endswith("_script"):
                assert {told[url].confidence for url in urls if url in told} == {"script"}
    assert missing == []


def test_links_of_real_pages(corpus: Path) -> None:
    """Links are counted as HTML5 parsers count them, and lead where they lead."""
    for row in rows(corpus, "truth.jsonl"):
        page = read_row(corpus, row)
        anchors = [link for link in page.links + page.others if link.source.tag in {"a", "area"}]
        assert (row["id"], len(anchors)) == (row["id"], row["links"])
        addresses = {link.url for link in page.links if link.source.tag in {"a", "area"}}
        assert (row["id"], len(addresses)) == (row["id"], row["links_http_unique"])


def test_text_of_real_pages(corpus: Path) -> None:
    """Title, charset and the probed anchor texts are as browsers show them."""
    for row in rows(corpus, "truth.jsonl"):
        page = read_row(corpus, row)
        assert (row["id"], page.charset, page.title) == (row["id"], row["charset"], row["title"])
        texts = {(link.url, link.text[:80]) for link in page.links + page.others}
        for url, text in row.get("anchor_probes", ()):
            address = url if url.startswith("javascript:") else url.partition("#")[0]
            assert (address, text) in texts


def test_declared_charsets_of_real_pages(corpus: Path) -> None:
    """What a page's bytes declare decodes without loss, but for pages that are damaged themselves."""
    known = {row["file"]: row for row in rows(corpus, "truth.jsonl")}
    for path in sorted((corpus / "html").iterdir()):
        row = known.get(f"html/{path.name}", {})
        decoded = decode(path.read_bytes(), row.get("content_type"))
        assert decoded.text.count("\ufffd") < 1000, path.name


def test_flash_by_ruffle(corpus: Path) -> None:
    """Ruffle's own pages give the movies that Ruffle would play."""
    for row in rows(corpus, "ruffle.jsonl"):
        assert sorted(sure(read_row(corpus, row), "flash")) == row["flash"]


# Pages whose movie Ruffle leaves to the browser, or which hold none.
NO_FLASH = {
    "embed_inside_audio",
    "embed_missing_src",
    "embed_wrong_type",
    "embed_youtube",
    "object_inside_audio",
    "object_missing_data",
    "pdf",
    "pdf_with_get",
}


def test_one_movie_on_each_page_of_ruffle(corpus: Path) -> None:
    """A page of Ruffle's holds one movie, told once, or none."""
    for path in sorted((corpus / "ruffle").iterdir()):
        page = read(path.read_bytes(), "http://h.test/")
        assert (path.stem, len(sure(page, "flash"))) == (path.stem, int(path.stem not in NO_FLASH))


def test_feeds(corpus: Path) -> None:
    """A feed's charset, title, links and enclosures are found."""
    for row in rows(corpus, "feeds.jsonl"):
        page = read((corpus / row["file"]).read_bytes(), "http://feed.test/feed.xml")
        assert (page.charset, page.title, len(page.links)) == (row["charset"], row["title"], row["links"])
        for kind in KINDS:
            found = [medium.url for medium in page.media if medium.kind == kind and medium.confidence == "element"]
            assert (row["file"], found) == (row["file"], row[kind])
        assert [medium.url for medium in page.media if medium.confidence == "player"] == row["player"]


def test_manifests(corpus: Path) -> None:
    """A manifest's format and the addresses that it names are found."""
    for row in rows(corpus, "manifests.jsonl"):
        found = manifest((corpus / row["file"]).read_text(encoding="utf-8"), row["base_url"])
        assert found is not None
        assert (found.format, list(found.urls), found.templated) == (row["type"], row["urls"], row["templated"])


def test_every_manifest_is_one(corpus: Path) -> None:
    """Each manifest is known for one, whether it names addresses or patterns of them."""
    for path in sorted((corpus / "manifests").iterdir()):
        found = manifest(path.read_text(encoding="utf-8"), "http://media.test/")
        assert found is not None, path.name
        assert found.urls or found.templated


def test_heads_of_media(corpus: Path) -> None:
    """First bytes tell a file's kind; one file, whose head names no stream, needs its type for it."""
    wrong = [
        row["original_name"]
        for row in rows(corpus, "magic.jsonl")
        if str(sniff((corpus / row["file"]).read_bytes())) not in row["kind"].split("|")
    ]
    assert wrong == ["testWMA.wma"]
    assert sniff((corpus / "magic" / "testWMA.wma.head").read_bytes(), "audio/x-ms-wma") == "audio"


def test_every_head_has_a_kind(corpus: Path) -> None:
    """No medium's head is taken for nothing."""
    assert [path.name for path in (corpus / "magic").iterdir() if sniff(path.read_bytes()) is None] == []
