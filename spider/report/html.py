"""The report as one page for a browser: it holds all that it shows and asks the network for nothing by itself.

Its Content-Security-Policy lets run the one script and the one style sheet that stand in it, known by their
hashes (CSP 3, section 2.3.1), and pictures, sound and film from the web once the reader clicks for them.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from importlib import resources
from typing import TYPE_CHECKING, TextIO

from spider import __version__
from spider.model import Relation
from spider.report.findings import GALLERY_LIMIT, Findings, Gallery, Tree, cards, island, run_rows, short
from spider.report.shapes import graph_data, timeline
from spider.report.text import cut, iso, visible

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["write_html"]

FLASH_ROWS = 50
SCRIPTS = ("helpers", "gallery", "tree", "graphs", "page")
BRIEF = 200  # columns of an address or a message in a list
_UNITS = ("B", "kB", "MB", "GB", "TB")
_PACKAGE = "spider.report"


def write_html(findings: Findings, stream: TextIO) -> int:
    """Write the page; return how many media it counts."""
    tree = Tree()
    for branch in findings.branches:
        tree.add(branch)
    gallery = Gallery(findings.runs[0].began_at if len(findings.runs) > 1 else None)
    for row in findings.media:
        gallery.add(row)
    script, style = _script(), _part("report.css")
    span, columns = timeline(gallery.days)
    page = _environment().get_template("report.html")
    pieces = page.generate(
        findings=findings,
        version=__version__,
        made=iso(findings.made_at),
        cards=cards(findings),
        gallery=gallery,
        left_over=max(0, gallery.total - GALLERY_LIMIT),
        flash=gallery.flash[:FLASH_ROWS],
        relations=tuple(Relation),
        span=span,
        columns=columns,
        runs=run_rows(findings.runs),
        script=script,
        style=style,
        policy=_policy(script, style),
        media_island=island(gallery.data(tree.places)),
        tree_island=island(tree.nodes),
        graph_island=island([graph_data(graph) for graph in findings.graphs]),
    )
    stream.writelines(pieces)
    return gallery.total


def _script() -> str:
    """Return the page's script: its parts in one function, so that none of its names is the page's."""
    parts = "".join(_part(f"report/{name}.js") for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def _part(name: str) -> str:
    """Return a part of the page that stands in it as it is."""
    return resources.files(_PACKAGE).joinpath("templates", name).read_text(encoding="utf-8")


def _environment() -> Environment:
    """Return what makes pages of templates: every value is escaped unless the template says that it is safe."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  # only this format needs it

    made = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= _FILTERS
    return made


def _policy(script: str, style: str) -> str:
    """Return the Content-Security-Policy that lets run this script and this style sheet alone."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "img-src http: https: data:",
            "media-src http: https:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _link(address: str) -> str:
    """Return an address that a click may lead to; "" for any but the web's."""
    return address if address.lower().startswith(("http://", "https://")) else ""


def _size(number: int | None) -> str:
    """Return a number of bytes as people say it."""
    if number is None:
        return ""
    power = min(len(_UNITS) - 1, (len(str(number)) - 1) // 3)
    size = number / 1000**power
    return f"{size:.1f} {_UNITS[power]}" if power and size < 100 else f"{size:.0f} {_UNITS[power]}"  # noqa: PLR2004  # three digits


def _lasting(microseconds: int) -> str:
    """Return a time as people say it: milliseconds below a second."""
    return f"{microseconds / 1e6:.1f} s" if microseconds >= 1_000_000 else f"{microseconds / 1e3:.0f} ms"  # noqa: PLR2004


_FILTERS: dict[str, Callable[..., str]] = {
    "shown": visible,
    "number": "{:,}".format,
    "brief": lambda text: visible(cut(text, BRIEF)),
    "bytes": _size,
    "lasting": _lasting,
    "link": _link,
    "site": short,
}
