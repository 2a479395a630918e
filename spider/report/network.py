"""The links, for other programs: as records, and as graphs in the languages that such programs read.

Without edges the graph is the forest: each link below the page that showed it first.  Edges, where a crawl kept
them, are every link of every page.  Everything streams: first all nodes, then all edges.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from spider.model import LinkState
from spider.report.formats import Value
from spider.report.text import visible
from spider.report.xml import Writer

if TYPE_CHECKING:
    from spider.store.edges import EdgeRow
    from spider.store.forest import LinkRow

__all__ = ["EDGE_COLUMNS", "LINK_COLUMNS", "edge_record", "link_record", "write_dot", "write_graphml"]

LINK_COLUMNS = ("url", "state", "depth", "seed", "parent", "text", "source", "relation")
"""The columns of the links of the forest."""

EDGE_COLUMNS = ("page", "link", "text", "source", "relation", "state", "depth", "seed")
"""The columns of the links of pages; from `state` on they tell of the link that is led to."""

_COLOURS = {LinkState.C: "#2d4a57", LinkState.W: "#8c969b", LinkState.R: "#b07400", LinkState.E: "#b02a2a"}


def link_record(row: LinkRow) -> dict[str, Value]:
    """Return a link of the forest as a record; `parent` is the page that showed it first."""
    return {
        "url": row.url,
        "state": str(row.state),
        "depth": row.depth,
        "seed": row.seed,
        "parent": row.parent,
        "text": row.text,
        "source": row.source,
        "relation": None if row.parent is None else row.relation,
    }


def edge_record(row: EdgeRow) -> dict[str, Value]:
    """Return a link as it stands on a page as a record."""
    return {
        "page": row.page,
        "link": row.link,
        "text": row.text,
        "source": row.source,
        "relation": row.relation,
        "state": str(row.state),
        "depth": row.depth,
        "seed": row.seed,
    }


def write_dot(rows: Iterable[LinkRow], stream: TextIO, *, edges: Iterable[EdgeRow] | None = None) -> None:
    """Write the links as a graph in the DOT language of Graphviz: a node each, and its edges."""
    stream.write("digraph links {\n  rankdir=LR;\n  node [shape=box, style=filled, fontcolor=white];\n")
    for row in rows:
        colour = _COLOURS[row.state]
        stream.write(f"  n{row.id} [label={_quoted(row.url)}, URL={_quoted(row.url)}, fillcolor={_quoted(colour)}];\n")
        if row.parent is not None and edges is None:
            stream.write(f"  n{row.parent_id} -> n{row.id} [label={_quoted(row.text)}];\n")
    stream.writelines(f"  n{edge.page_id} -> n{edge.link_id} [label={_quoted(edge.text)}];\n" for edge in edges or ())
    stream.write("}\n")


def _quoted(text: str) -> str:
    """Return a quoted string of DOT: controls visible, and no escape sequence of the text's own."""
    return '"' + visible(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


_KEYS = (
    ("url", "node", "string"),
    ("state", "node", "string"),
    ("depth", "node", "int"),
    ("seed", "node", "string"),
    ("text", "edge", "string"),
    ("source", "edge", "string"),
    ("relation", "edge", "string"),
)


def write_graphml(rows: Iterable[LinkRow], stream: TextIO, *, edges: Iterable[EdgeRow] | None = None) -> None:
    """Write the links as GraphML 1.0: a node each, and its edges."""
    out = Writer(stream)
    out.open("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    for name, owner, kind in _KEYS:
        out.leaf("key", id=name, **{"for": owner, "attr.name": name, "attr.type": kind})
    out.open("graph", id="links", edgedefault="directed")
    for row in rows:
        record = link_record(row)
        out.open("node", id=f"n{row.id}")
        _data(out, record, ("url", "state", "depth", "seed"))
        out.close("node")
        if row.parent is not None and edges is None:
            _edge(out, row.parent_id or 0, row.id, record)
    for edge in edges or ():
        _edge(out, edge.page_id, edge.link_id, edge_record(edge))
    out.close("graph")
    out.close("graphml")


def _edge(out: Writer, source: int, target: int, record: dict[str, Value]) -> None:
    out.open("edge", source=f"n{source}", target=f"n{target}")
    _data(out, record, ("text", "source", "relation"))
    out.close("edge")


def _data(out: Writer, record: dict[str, Value], names: Iterable[str]) -> None:
    for name in names:
        out.leaf("data", str(record[name]), key=name)
