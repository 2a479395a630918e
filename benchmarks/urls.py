"""How right and how fast the URL room is beside the best of its peers.

The peers (can_ada, which is ada in C++, and w3lib, which is Scrapy's) are installed into
``.bench-venv/``, a venv of their own, the first time.  Times are processor time in one process, of the
first 30,000 links of the shared corpus, fresh strings each time, medians of five interleaved runs.  A
second process measures the interpreted twin::

    python benchmarks/urls.py
"""

from __future__ import annotations

import gzip
import importlib
import itertools
import json
import os
import statistics
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urldefrag, urljoin

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "urls"
VENV = ROOT / ".bench-venv"
PEERS = ("can_ada==3.0.0", "w3lib==2.5.0", "idna")
LINKS = 30_000
SLOW_LINKS = 6_000
RUNS = 5

Pages = list[tuple[str, list[str]]]
Work = Callable[[Any], object]


def prepare() -> Path:
    """Make the venv of the peers where there is none yet; return its Python."""
    python = VENV / "bin" / "python"
    asked = [str(python), "-c", "import can_ada, w3lib, idna"]
    if not python.exists():
        venv.create(VENV, with_pip=True)
    if subprocess.run(asked, capture_output=True, check=False).returncode:
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PEERS], check=True)
    return python


def pages(count: int) -> Pages:
    """Read so many links of the corpus, by page, as strings that nobody has hashed or encoded yet."""
    with gzip.open(DATA / "hrefs.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in itertools.islice(lines, count)]
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row["base"], []).append(row["href"])
    return list(found.items())


def fresh(texts: Iterable[str]) -> list[str]:
    """Copy strings, so that no run profits from what another left in them."""
    return ["".join([text[:1], text[1:]]) for text in texts]


def measure(works: Mapping[str, Work], make: Callable[[], object], count: int) -> dict[str, float]:
    """Take the median nanoseconds of each work, taking turns."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(RUNS):
        for name, work in works.items():
            data = make()
            begun = time.process_time()
            work(data)
            times[name].append((time.process_time() - begun) / count * 1e9)
    return {name: statistics.median(values) for name, values in times.items()}


def each(function: Callable[[str, str], str]) -> Work:
    """Make a work that resolves each link against its page, one by one."""

    def work(data: Pages) -> None:
        for base, hrefs in data:
            for href in hrefs:
                try:
                    function(base, href)
                except ValueError:
                    continue

    return work


def at_once(function: Callable[[list[str], str], object]) -> Work:
    """Make a work that takes a page's links at once."""

    def work(data: Pages) -> None:
        for base, hrefs in data:
            function(hrefs, base)

    return work


def by_ada(can_ada: ModuleType) -> Work:
    """Make can_ada's work: base + link, hash dropped, written."""

    def work(data: Pages) -> None:
        for base, hrefs in data:
            page = can_ada.parse(base)
            for href in hrefs:
                try:
                    url = page + href
                except ValueError:
                    continue
                url.hash = ""
                url.href  # noqa: B018  # writing is the work

    return work


def one_by_one(function: Callable[[str], object]) -> Work:
    """Make a work on absolute addresses."""

    def work(texts: list[str]) -> None:
        for text in texts:
            function(text)

    return work


def conformance(url: ModuleType) -> dict[str, int]:
    """Count the cases of the reference suites that the twin at hand gets right."""

    def cases(name: str) -> list[dict[str, Any]]:
        entries = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
        return [entry for entry in entries if isinstance(entry, dict)]

    def written(text: str, base: str | None = None) -> str | None:
        try:
            address = url.normalize(text, base)
            return str(url.parse(text, base)) if address == str(url.parse(text, base)).partition("#")[0] else ""
        except url.InvalidURL:
            return None

    def right(name: str) -> int:
        return sum(written(case["input"], case["base"]) == case.get("href") for case in cases(name))

    def hosts(name: str) -> int:
        pairs = [(case["input"], case["output"]) for case in cases(name) if case["input"]]
        return sum(written(f"https://{one}/x") == (two and f"https://{two}/x") for one, two in pairs)

    pairs = [(case["input"], *pair) for case in cases("percent-encoding") for pair in case["output"].items()]
    return {
        "urltestdata.json, of 891": right("urltestdata"),
        "toascii.json, of 87": hosts("toascii"),
        "IdnaTestV2.json, of 2670": hosts("IdnaTestV2"),
        "percent-encoding.json, of 16": sum(
            url.parse(f"http://h/?{text}", encoding=encoding).query == want for text, encoding, want in pairs
        ),
        "lone surrogates, of 1": right("urltestdata-javascript-only"),
    }


def row(*cells: object) -> None:
    """Print one line of the table."""
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def compiled(url: ModuleType, data: Pages) -> None:
    """Print the rows of the compiled twin."""
    can_ada = importlib.import_module("can_ada")
    w3lib = importlib.import_module("w3lib.url")
    count = sum(len(hrefs) for _, hrefs in data)

    def make() -> Pages:
        return [(base, fresh(hrefs)) for base, hrefs in data]

    works = {"ours": at_once(url.normalize_all), "ada": by_ada(can_ada), "identify": at_once(url.identify_all)}
    times = measure(works, make, count)
    row(
        "resolve + normalize a page's links, to can_ada",
        "0.35",
        "0.20",
        f"{times['ours'] / times['ada']:.2f}",
        f"{times['ours']:.0f} to {times['ada']:.0f} ns",
    )
    row(
        "identify_all to normalize_all",
        "2.5",
        "1.6",
        f"{times['identify'] / times['ours']:.2f}",
        f"{times['identify']:.0f} to {times['ours']:.0f} ns",
    )

    def ada(text: str) -> str:
        parsed = can_ada.parse(text)
        parsed.hash = ""
        return str(parsed.href)

    found = [address for base, hrefs in data for address in url.normalize_all(hrefs, base)]
    absolute = [address for address in found if address and address.startswith("http")]
    one = measure({"ours": one_by_one(url.normalize), "ada": one_by_one(ada)}, lambda: fresh(absolute), len(absolute))
    row(
        "normalize one absolute address, to can_ada",
        "0.30",
        "0.20",
        f"{one['ours'] / one['ada']:.2f}",
        f"{one['ours']:.0f} to {one['ada']:.0f} ns",
    )
    small = pages(SLOW_LINKS)
    slow = {"w3lib": each(lambda base, href: str(w3lib.canonicalize_url(urljoin(base, href))))}
    recipe = measure(slow, lambda: small, SLOW_LINKS)["w3lib"]
    row(
        "times faster than w3lib.canonicalize_url(urljoin())",
        "50",
        "100",
        f"{recipe / times['ours']:.0f}",
        f"{times['ours']:.0f} to {recipe:.0f} ns",
    )


def interpreted(url: ModuleType, data: Pages) -> None:
    """Print the row of the interpreted twin."""
    works = {"ours": at_once(url.normalize_all), "stdlib": each(lambda base, href: urldefrag(urljoin(base, href)).url)}
    times = measure(works, lambda: [(base, fresh(hrefs)) for base, hrefs in data], sum(len(hrefs) for _, hrefs in data))
    row(
        "interpreted: resolve + normalize, to urldefrag(urljoin())",
        "1.0",
        "0.4",
        f"{times['ours'] / times['stdlib']:.2f}",
        f"{times['ours']:.0f} to {times['stdlib']:.0f} ns",
    )


def inside() -> None:
    """Measure, in the venv of the peers, the twin that the environment asks for."""
    url = importlib.import_module("spider.url")
    twin = "compiled" if url.is_compiled() else "interpreted"
    if os.environ.get("SPIDER_PURE") != "1" and twin == "interpreted":
        row("compiled twin", "", "", "none built", "is there a compiler?")
        return
    for name, count in conformance(url).items():
        row(f"{twin}: {name}", "all", "all", count, "")
    (compiled if twin == "compiled" else interpreted)(url, pages(LINKS))


def main() -> None:
    """Print the table."""
    if "--inside" in sys.argv:
        inside()
        return
    if not DATA.is_dir():
        print(f"the corpus is not here: {DATA}")
        return
    python = prepare()
    row("axis", "bar", "aim", "measured", "")
    row("---", "---", "---", "---", "---")
    for pure in ("0", "1"):
        environment = os.environ | {"PYTHONPATH": str(ROOT), "SPIDER_PURE": pure}
        subprocess.run([str(python), __file__, "--inside"], env=environment, check=True)


if __name__ == "__main__":
    main()
