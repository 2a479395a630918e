"""Draw the diagrams of ``docs/architecture.md`` from the tables of the code.

Each is a Mermaid block between a line ``<!-- drawn: NAME -->`` and a line ``<!-- end -->``; the rest of
the file is written by hand.  With ``--check`` nothing is written: the exit code says whether the
diagrams are up to date.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

from spider.store import frontier
from spider.url import machine

TARGET = Path(__file__).with_name("architecture.md")
PROJECT = Path(__file__).parent.parent / "pyproject.toml"

WORDS = {
    "$": "end",
    ":": "colon",
    "/": "slash",
    "?": "question mark",
    "#": "hash",
    "@": "at",
    "[": "open bracket",
    "]": "close bracket",
    "A": "other",
    "N": "digits",
    "a": "letter",
    "n": "digit + - .",
    "x": "other",
    "D1": "other",
    "D2": "slash",
    "D3": "dot",
}
"""How a diagram writes an input; Mermaid reads some of the characters themselves as its own."""

FRONT_TARGETS = {"**": ("T3", "T6", "T8", "TC")}
"""Where FRONT's ``**`` leads, by the scheme that was read (see the comment above the table)."""

Table = Mapping[str, Mapping[str, str]]


def edges(table: Table) -> dict[tuple[str, str], list[str]]:
    """Gather the inputs that lead from one state to another, in the table's order."""
    found: dict[tuple[str, str], list[str]] = {}
    for state in next(iter(table.values())):
        for entry, row in table.items():
            word = WORDS.get(entry, entry)
            for target in FRONT_TARGETS.get(row[state], (row[state],)):
                words = found.setdefault((state, target), [])
                if target != "--" and word not in words:
                    words.append(word)
    return {pair: words for pair, words in found.items() if words}


def ident(state: str) -> str:
    """Return the state's name as Mermaid can take it."""
    return state.replace("-", "_")


def draw_machine(table: Table, start: str) -> list[str]:
    """Draw a transition table; a move that is not there is an error and is not drawn."""
    pairs = edges(table)
    states = dict.fromkeys(state for pair in pairs for state in pair)
    named = [f'state "{state}" as {ident(state)}' for state in states if ident(state) != state]
    moves = [f"{ident(one)} --> {ident(two)} : {', '.join(words)}" for (one, two), words in pairs.items()]
    return ["stateDiagram-v2", "direction LR", *named, f"[*] --> {ident(start)}", *moves]


def draw_moves() -> list[str]:
    """Draw the moves of a link, as the docstring of the file that makes them tells them."""
    told = re.findall(r"(\w+) ([WRCE]?) ?→ ?([WRCE])", frontier.__doc__ or "")
    return ["stateDiagram-v2", "direction LR", *(f"{one or '[*]'} --> {two} : {move}" for move, one, two in told)]


def draw_floors() -> list[str]:
    """Draw the floors, highest first, from the rules that import-linter keeps."""
    contract = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"][0]
    floors = [
        re.sub("[()]", "", layer).replace(" | ", " · ").replace("__main__", "python -m spider")
        for layer in contract["layers"]
    ]
    boxes = [f'f{number}["{floor}"]' for number, floor in enumerate(floors)]
    return ["flowchart TD", *boxes, *(f"f{number} --> f{number + 1}" for number in range(len(floors) - 1))]


DIAGRAMS: Mapping[str, Callable[[], list[str]]] = {
    "floors": draw_floors,
    "moves": draw_moves,
    "front": lambda: draw_machine(machine.FRONT, "T0"),
    "parent": lambda: draw_machine(machine.PARENT, "S0"),
    "child": lambda: draw_machine(machine.CHILD, "S5-0"),
}


def render(text: str) -> str:
    """Return the document with each diagram drawn anew."""

    def block(found: re.Match[str]) -> str:
        head, *lines = DIAGRAMS[found["name"]]()
        drawn = "\n".join([head, *(f"    {line}" for line in lines)])
        return f"<!-- drawn: {found['name']} -->\n```mermaid\n{drawn}\n```\n<!-- end -->"

    return re.sub(r"<!-- drawn: (?P<name>\w+) -->\n(?:.*\n)*?<!-- end -->", block, text)


def main() -> None:
    """Draw the diagrams, or with ``--check`` say whether they are up to date."""
    text = TARGET.read_text(encoding="utf-8")
    fresh = render(text)
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(fresh, encoding="utf-8")
    elif fresh != text:
        sys.exit("docs/architecture.md has outdated diagrams; run: make docs")


if __name__ == "__main__":
    main()
