"""How well and how fast pages are read, beside the tools that others use.

The corpus of real pages stands in ``../shared/corpus/pages`` (its SOURCES.md says what it is), with
expected values for a third of it; without it there is nothing to measure.  The peers live in a virtual
environment of their own, ``.bench-venv``, which is made at the first run::

    python benchmarks/pages.py [--no-peers]

Times are processor time a page, the best of five runs in one process, on all pages.
"""

from __future__ import annotations

import argparse
import importlib
import json
import mimetypes
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT.parent / "shared" / "corpus" / "pages"
PEERS = ROOT / ".bench-venv"
PACKAGES = ["Scrapy", "lxml", "w3lib", "extruct", "faust-cchardet", "filetype", "puremagic"]
KINDS = ("video", "audio", "flash")
RUNS = 5

Row = dict[str, Any]
Found = dict[str, set[str]]


def rows(name: str) -> list[Row]:
    """Return the expected values of one kind of file."""
    return [json.loads(line) for line in (CORPUS / name).read_text(encoding="utf-8").splitlines()]


def pages() -> list[tuple[str, str, bytes]]:
    """Return every page: address, declared type, bytes."""
    known = {row["file"]: row for row in rows("truth.jsonl")}
    found = []
    for path in sorted((CORPUS / "html").iterdir()):
        row = known.get(f"html/{path.name}", {})
        url = row.get("base_url", f"http://fixture.test/dir/{path.name}")
        found.append((url, row.get("content_type", "text/html"), path.read_bytes()))
    return found


def best(work: Callable[[tuple[str, str, bytes]], object]) -> float:
    """Return the milliseconds of processor time that a page takes."""
    documents, times = pages(), []
    for _ in range(RUNS):
        began = time.process_time()
        for document in documents:
            work(document)
        times.append(time.process_time() - began)
    return min(times) / len(documents) * 1000


def strict(find: Callable[[Row, bytes], Found]) -> dict[str, Any]:
    """Count the media in markup that are found, by kind, and what is found besides."""
    right = dict.fromkeys(KINDS, 0)
    wanted = dict.fromkeys(KINDS, 0)
    wrong = 0
    for row in rows("truth.jsonl"):
        found = find(row, (CORPUS / row["file"]).read_bytes())
        either = {(one["kind"], url) for one in row.get("any_of", ()) for url in one["urls"]}
        maybe = {(one["kind"], one["url"]) for one in row.get("optional", ())} | either
        for kind in KINDS:
            wanted[kind] += len(row[kind])
            right[kind] += len(found[kind] & set(row[kind]))
            wrong += sum((kind, url) not in maybe for url in found[kind] - set(row[kind]))
    return {"right": right, "wanted": wanted, "wrong": wrong}


def show_strict(counts: dict[str, Any]) -> str:
    """Write such a count: found of wanted, then each kind, then what is wrong."""
    right, wanted = counts["right"], counts["wanted"]
    each = ", ".join(f"{kind} {right[kind]}/{wanted[kind]}" for kind in KINDS)
    return f"{sum(right.values())}/{sum(wanted.values())} ({each}), {counts['wrong']} wrong"


def share(results: Iterable[bool]) -> str:
    """Write how many of the results are right."""
    outcomes = list(results)
    return f"{sum(outcomes)}/{len(outcomes)}"


# -- ours ------------------------------------------------------------------------------------------


def ours() -> dict[str, str]:
    """Measure this project."""
    sys.path.insert(0, str(ROOT))
    page = importlib.import_module("spider.page")
    manifests = importlib.import_module("spider.page.manifests")
    truth = rows("truth.jsonl")

    def read(row: Row) -> Any:  # noqa: ANN401  # a Page, of a package that is imported late
        return page.read((CORPUS / row["file"]).read_bytes(), row["base_url"], content_type=row.get("content_type"))

    def markup(row: Row, _body: bytes) -> Found:
        media = [medium for medium in read(row).media if medium.confidence in {"element", "link"}]
        return {kind: {medium.url for medium in media if medium.kind == kind} for kind in KINDS}

    read_pages = [(row, read(row)) for row in truth]
    return {
        "media in markup": show_strict(strict(markup)),
        "Ruffle's pages": share(
            [medium.url for medium in read(row).media if medium.kind == "flash"] == row["flash"]
            for row in rows("ruffle.jsonl")
        ),
        "media in metadata": share(told(read_pages, "_meta")),
        "embedded players": share(told(read_pages, "player_embeds")),
        "strings of scripts": share(told(read_pages, "_script")),
        "charset": share(found.charset == row["charset"] for row, found in read_pages),
        "title and anchor texts": share(probed(row, found) for row, found in read_pages),
        "links as HTML5 counts": share(
            sum(link.source.tag in {"a", "area"} for link in found.links + found.others) == row["links"]
            for row, found in read_pages
        ),
        "feeds": share(
            (found.charset, found.title, len(found.links)) == (row["charset"], row["title"], row["links"])
            for row in rows("feeds.jsonl")
            for found in [page.read((CORPUS / row["file"]).read_bytes(), "http://feed.test/")]
        ),
        "manifests": share(
            list(found.urls) == row["urls"]
            for row in rows("manifests.jsonl")
            for found in [manifests.manifest((CORPUS / row["file"]).read_text(encoding="utf-8"), row["base_url"])]
        ),
        "heads of media": share(
            str(page.sniff((CORPUS / row["file"]).read_bytes())) in row["kind"].split("|")
            for row in rows("magic.jsonl")
        ),
        "ms a page": f"{best(lambda one: page.read(one[2], one[0], content_type=one[1])):.2f}",
    }


def told(read_pages: list[tuple[Row, Any]], ending: str) -> list[bool]:
    """Say of each expected address of a tier whether the page tells it."""
    return [
        url in {medium.url for medium in found.media}
        for row, found in read_pages
        for key, urls in row.items()
        if key.endswith(ending)
        for url in urls
    ]


def probed(row: Row, found: Any) -> bool:  # noqa: ANN401
    """Say whether a page's title and the probed anchors' texts are right."""
    texts = {(link.url, link.text[:80]) for link in found.links + found.others}
    probes = [
        (url if url.startswith("javascript:") else url.partition("#")[0], text)
        for url, text in row.get("anchor_probes", ())
    ]
    return found.title == row["title"] and all(probe in texts for probe in probes)


# -- peers, in their own environment ---------------------------------------------------------------


def kind_of(url: str, table: dict[str, str]) -> str | None:
    """Tell a medium by its extension alone, as one does with a list of links."""
    tail = url.partition("#")[0].partition("?")[0].rpartition("/")[2].rpartition(".")[2].lower()
    return table.get(tail)


def sorted_out(urls: Iterable[str], table: dict[str, str]) -> Found:
    """Sort addresses into kinds by their extension."""
    found: Found = {kind: set() for kind in KINDS}
    for url in urls:
        kind = kind_of(url, table)
        if kind:
            found[kind].add(url)
    return found


def peers(table: dict[str, str]) -> dict[str, dict[str, str]]:
    """Measure the peers; runs in their environment."""
    return {"lxml iterlinks + extensions": lxml_links(table), **scrapy_links(table)} | detectors() | metadata()


def lxml_links(table: dict[str, str]) -> dict[str, str]:
    """Measure lxml's own list of links."""
    html = importlib.import_module("lxml.html")

    def find(row: Row, body: bytes) -> Found:
        tree = html.fromstring(body)
        return sorted_out((joined(row["doc_base"], link[2]) for link in tree.iterlinks()), table)

    return {
        "media in markup": show_strict(strict(find)),
        "ms a page": f"{best(lambda one: list(parsed(html, one[2]).iterlinks())):.2f}",
    }


def parsed(html: Any, body: bytes) -> Any:  # noqa: ANN401
    """Parse what lxml can parse."""
    try:
        return html.fromstring(body)
    except (ValueError, LookupError, html.etree.ParserError):
        return html.fromstring("<p></p>")


def joined(base: str, url: str) -> str:
    """Join as Python does, which gives up on some addresses."""
    try:
        return urljoin(base, url.strip())
    except ValueError:
        return ""


def scrapy_links(table: dict[str, str]) -> dict[str, dict[str, str]]:
    """Measure Scrapy's extractor, with its own tags and with more."""
    extractors = importlib.import_module("scrapy.linkextractors")
    http = importlib.import_module("scrapy.http")
    attributes = ("href", "src", "data", "value", "poster", "content")
    tags = (
        "a",
        "area",
        "video",
        "audio",
        "source",
        "embed",
        "object",
        "param",
        "iframe",
        "frame",
        "bgsound",
        "link",
        "meta",
    )
    ways = {
        "Scrapy LinkExtractor": extractors.LinkExtractor(deny_extensions=[]),
        "Scrapy, more tags": extractors.LinkExtractor(tags=tags, attrs=attributes, deny_extensions=[]),
    }

    def extract(extractor: Any, url: str, declared: str, body: bytes) -> list[Any]:  # noqa: ANN401
        links: list[Any] = extractor.extract_links(
            http.HtmlResponse(url, body=body, headers={"Content-Type": declared})
        )
        return links

    measured = {}
    for name, extractor in ways.items():

        def find(row: Row, body: bytes, extractor: Any = extractor) -> Found:  # noqa: ANN401
            return sorted_out(
                (link.url for link in extract(extractor, row["base_url"], row["content_type"], body)), table
            )

        measured[name] = {
            "media in markup": show_strict(strict(find)),
            "ms a page": f"{best(lambda one, way=extractor: extract(way, *one)):.2f}",  # type: ignore[misc]
        }
    return measured


def detectors() -> dict[str, dict[str, str]]:
    """Measure w3lib with a detector behind it, and the libraries that know signatures."""
    encoding = importlib.import_module("w3lib.encoding")
    cchardet = importlib.import_module("cchardet")
    filetype = importlib.import_module("filetype")
    puremagic = importlib.import_module("puremagic")
    codecs = importlib.import_module("codecs")

    def charset(row: Row) -> bool:
        body = (CORPUS / row["file"]).read_bytes()
        name, text = encoding.html_to_unicode(
            row["content_type"], body, auto_detect_fun=lambda data: cchardet.detect(data)["encoding"]
        )
        del name
        wanted = body.decode(codecs.lookup(row["charset"]).name, "replace").lstrip("\ufeff")
        return bool(squeezed(text) == squeezed(wanted))

    def by_filetype(body: bytes) -> str:
        guess = filetype.guess(body)
        return guess.mime if guess else ""

    def by_puremagic(body: bytes) -> str:
        try:
            return str(puremagic.from_string(body, mime=True))
        except puremagic.PureError:
            return ""

    return {
        "w3lib + cchardet": {"charset": share(charset(row) for row in rows("truth.jsonl"))},
        "filetype": {"heads of media": share(headed(by_filetype))},
        "puremagic": {"heads of media": share(headed(by_puremagic))},
    }


def squeezed(text: str) -> str:
    """Count a run of replacement characters as one: decoders differ in how many they write."""
    while "\ufffd\ufffd" in text:
        text = text.replace("\ufffd\ufffd", "\ufffd")
    return text


def headed(guess: Callable[[bytes], str]) -> list[bool]:
    """Say of each head whether a library's type is of the right kind."""
    flash = mimetypes.guess_type("x.swf")[0] or "application/x-shockwave-flash"
    results = []
    for row in rows("magic.jsonl"):
        mime = guess((CORPUS / row["file"]).read_bytes())
        kind = "flash" if mime in {flash, "application/x-shockwave-flash"} else mime.partition("/")[0]
        results.append(kind in row["kind"].split("|"))
    return results


def metadata() -> dict[str, dict[str, str]]:
    """Measure extruct on JSON-LD, Open Graph and microdata."""
    extruct = importlib.import_module("extruct")
    results = []
    for row in rows("truth.jsonl"):
        wanted = [url for key, urls in row.items() if key.endswith("_meta") for url in urls]
        if wanted:
            data = extruct.extract(
                (CORPUS / row["file"]).read_bytes(),
                base_url=row["base_url"],
                syntaxes=["json-ld", "opengraph", "microdata"],
                errors="ignore",
            )
            text = json.dumps(data)
            results += [url in text or url.rpartition("/")[2] in text for url in wanted]
    return {"extruct": {"media in metadata": share(results)}}


# -- the table -------------------------------------------------------------------------------------


def measured_peers() -> dict[str, dict[str, str]]:
    """Run the peers in their environment, which is made where it is missing."""
    python = PEERS / "bin" / "python"
    if not python.exists():
        venv.create(PEERS, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True, stderr=subprocess.DEVNULL)
    sys.path.insert(0, str(ROOT))
    kinds = importlib.import_module("spider.page.kinds")
    table = {name: str(kind) for name, (kind, _) in kinds.EXTENSIONS.items()}
    command = [str(python), __file__, "--peers"]
    done = subprocess.run(command, input=json.dumps(table), capture_output=True, text=True, check=True)
    answer: dict[str, dict[str, str]] = json.loads(done.stdout.splitlines()[-1])
    return answer


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--no-peers", action="store_true", help="measure this project only")
    parser.add_argument("--peers", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if not CORPUS.is_dir():
        print(f"real pages are not here: {CORPUS}")
        return
    if given.peers:
        print(json.dumps(peers(json.load(sys.stdin))))
        return
    own, others = ours(), {}
    if not given.no_peers:
        try:
            others = measured_peers()
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"the peers are not measured: {error}")
    for axis, value in own.items():
        print(f"{axis:24} {'this spider':28} {value}")
        for name, figures in others.items():
            if axis in figures:
                print(f"{'':24} {name:28} {figures[axis]}")
    if "Scrapy LinkExtractor" in others:
        ratio = float(own["ms a page"]) / float(others["Scrapy LinkExtractor"]["ms a page"])
        print(f"{'time, of Scrapy alone':24} {'this spider':28} {ratio:.2f}")


if __name__ == "__main__":
    main()
