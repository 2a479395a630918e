"""The URL machine of paper 1: its states, and the tables that say what may follow what.

A URL is read once, from left to right.  Three tables say what may follow what: `FRONT` for scheme
and slashes, `PARENT` for what stands behind ``//`` (paper 1's parent machine, states S0 to S7) and
`CHILD` for the path (its child machine, S5-0 to S5-5).  The language is the WHATWG URL standard's
(section 4.4); which of its states each of ours stands for is written beside the tables.

The loop that runs them is `spider.url.reader`'s.  ``python -m spider.url`` draws them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

__all__ = ["CHILD", "CHILD_TABLE", "FRONT", "FRONT_TABLE", "PARENT", "PARENT_TABLE", "STATES", "draw", "read_table"]


# What stands before S0.  Inputs: a letter, n digit and + - ., : / ? #, x any other, $ the end.
# -- no URL so far: the scheme ends without a colon, so it is none, and the reading begins anew as
# relative (T6, T8 with a file base).  ** the scheme ends: T3 special, T6 special and the base's
# own scheme, T8 file, TC any other.  T3 eats slashes and is passed over by schemes that are not special.
FRONT_TABLE: Final = """
    in  T0 T1 T3 TC T5 T6 T7 T8 T9 TF
    a   T1 T1 S0 S8 S5 S5 S5 S5 S5 TF
    n   -- T1 S0 S8 S5 S5 S5 S5 S5 TF
    :   -- ** S0 S8 S5 S5 S5 S5 S5 TF
    /   -- -- T3 T5 S0 T7 T3 T9 TF S5
    ?   -- -- S0 S8 S5 S6 S5 S6 S5 S5
    #   -- -- S0 S8 S5 S7 S5 S7 S5 S5
    x   -- -- S0 S8 S5 S5 S5 S5 S5 TF
    $   -- -- S0 S8 S5 S9 S5 S9 S5 S5
"""
# T0 scheme start          T1 scheme                 T3 special authority slashes, ignore slashes
# TC behind another scheme T5 path or authority      T6 relative, special relative or authority
# T7 relative slash        T8 file                   T9 file slash             TF file host
# S8 opaque path           S9 the base as it is

# Paper 1's parent machine, with two states for an open bracket (B0 of a host without user, B3 behind
# one) and [ ] as inputs.  The last @ ends the user; the first : in it begins the password.
# A any other character, N a run of digits.  \ is / where the scheme is special.
PARENT_TABLE: Final = r"""
    in  S0 B0 S1 S2 S3 B3 S4 S5 S6 S7
    A   S0 B0 S2 S2 S3 B3 S2 S5 S6 S7
    N   S0 B0 S1 S2 S3 B3 S4 S5 S6 S7
    :   S1 B0 S2 S2 S4 B3 S2 S5 S6 S7
    @   S3 S3 S3 S3 S3 S3 S3 S5 S6 S7
    /   S5 S5 S5 -- S5 S5 S5 S5 S6 S7
    ?   S6 S6 S6 -- S6 S6 S6 S6 S6 S7
    #   S7 S7 S7 -- S7 S7 S7 S7 S7 S7
    [   B0 B0 S2 S2 B3 B3 S2 S5 S6 S7
    ]   S0 S0 S2 S2 S3 S3 S2 S5 S6 S7
"""
# S0, S1, S2 authority, host, port   S3, S4 host and port behind a user   S5 path start, path
# S6 query                           S7 fragment

# Paper 1's child machine, as today's web needs it: D1 any other character, D2 a slash, D3 a dot
# (or %2e).  S5-0 behind a slash, S5-1 /.  S5-2 /..  S5-3 a dot inside a segment, S5-4 more of them,
# S5-5 any other.  On D2 the state left behind tells what the segment was: S5-1 is dropped, S5-2 pops.
CHILD_TABLE: Final = """
    in  S5-0 S5-1 S5-2 S5-3 S5-4 S5-5
    D1  S5-5 S5-5 S5-5 S5-5 S5-5 S5-5
    D2  S5-0 S5-0 S5-0 S5-0 S5-0 S5-0
    D3  S5-1 S5-2 S5-4 S5-4 S5-4 S5-3
"""


def read_table(text: str) -> dict[str, dict[str, str]]:
    """Read a table as it is printed: `table[input][state]` is the next state."""
    head, *rows = (line.split() for line in text.strip().splitlines())
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}


FRONT: Final = read_table(FRONT_TABLE)
PARENT: Final = read_table(PARENT_TABLE)
CHILD: Final = read_table(CHILD_TABLE)

# What each state stands for: the field of paper 1, or where in a URL it is; and the standard's states.
STATES: Final = {
    "T0": ("nothing read", "scheme start"),
    "T1": ("scheme", "scheme, no scheme"),
    "T3": ("slashes behind a special scheme", "special authority slashes, special authority ignore slashes"),
    "TC": ("behind another scheme", "scheme"),
    "T5": ("one slash behind another scheme", "path or authority"),
    "T6": ("begin of a relative address", "relative, special relative or authority"),
    "T7": ("one slash of a relative address", "relative slash"),
    "T8": ("behind `file:`", "file"),
    "T9": ("one slash behind `file:`", "file slash"),
    "TF": ("host behind `file://`", "file host"),
    "S0": ("user or host", "authority, host"),
    "B0": ("host, a bracket open", "host, inside brackets"),
    "S1": ("password or port", "authority, port"),
    "S2": ("password", "authority"),
    "S3": ("host behind a user", "host"),
    "B3": ("host behind a user, a bracket open", "host, inside brackets"),
    "S4": ("port behind a user", "port"),
    "S5": ("path; the child machine runs", "path start, path"),
    "S5-0": ("path: behind a slash", "path, buffer empty"),
    "S5-1": ("path: behind `/.`", "path, single-dot segment"),
    "S5-2": ("path: behind `/..`", "path, double-dot segment"),
    "S5-3": ("path: a dot inside a segment", "path"),
    "S5-4": ("path: more dots", "path"),
    "S5-5": ("path: any other character", "path"),
    "S6": ("query", "query"),
    "S7": ("fragment", "fragment"),
    "S8": ("opaque path", "opaque path"),
    "S9": ("the base as it is", "relative, file, at the end"),
}


def _markdown(head: list[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Write a table in Markdown."""
    lines = [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
    return [*lines, ""]


def _mermaid(table: dict[str, dict[str, str]]) -> list[str]:
    """Draw a table's moves as a Mermaid diagram, those to the same place in one arrow."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for token, row in table.items():
        for state, following in row.items():
            if following not in {"--", state}:
                arrows.setdefault((state, following), []).append(token.replace("#", "#35;"))
    lines = [f'    {_node(a)} -->|"{" ".join(tokens)}"| {_node(b)}' for (a, b), tokens in arrows.items()]
    return ["```mermaid", "flowchart LR", *lines, "```", ""]


def _node(state: str) -> str:
    """Name a state for Mermaid, which takes some characters as its own."""
    return f'{state.replace("-", "_")}["{state}"]' if state != "**" else 'scheme["T3, T6, T8 or TC, by the scheme"]'


def draw() -> str:
    """Write the machine as Markdown: its states, and each table with its diagram."""
    lines = ["### States", "", *_markdown(["state", "field", "the standard's states"], _described())]
    for name, table in (("FRONT", FRONT), ("PARENT", PARENT), ("CHILD", CHILD)):
        states = list(next(iter(table.values())))
        rows = ([f"`{token}`", *row.values()] for token, row in table.items())
        lines += [f"### {name}", "", *_markdown(["in", *states], rows), *_mermaid(table)]
    return "\n".join(lines)


def _described() -> Iterable[list[str]]:
    return ([state, *words] for state, words in STATES.items())
