"""Write ``docs/reliability.md`` from the table of the ways to be hurt and from what bad inputs are answered with.

With ``--check`` nothing is written: the exit code says whether the file is up to date.  With ``--measure`` the
scenarios are played, and what they took is written to ``tests/cases/hostile/figures.json`` first.
"""

from __future__ import annotations

import html
import json
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the table stands with the tests

from tests.hostile import hand  # noqa: E402
from tests.hostile.rows import FAULTS, ROWS, WIRE, Row  # noqa: E402
from tests.hostile.scenarios import SCENARIOS  # noqa: E402
from tests.hostile.soak import measured as measured_soak  # noqa: E402
from tests.hostile.stage import BASE, Scenario, Spider, play  # noqa: E402

TARGET = Path(__file__).with_name("reliability.md")
FIGURES = ROOT / "tests" / "cases" / "hostile" / "figures.json"

HEAD = """\
# The hostile web

<!-- Written by docs/make_reliability.py from tests/cases/hostile/ and tests/hostile/; change it there. -->

What can hurt a crawl, what is promised, and what proves it. Every row is tried by `make test`: a hostile server plays
its scenarios against a crawl in a process of its own, and the test holds the outcome, its class, the time (the deadline
and a second), the memory, and that all honest pages of that host and of the next are read all the same. What cannot be
played by a server is proved by the tests that are named. Who attacks, and what is at stake, is told in
[security.md](security.md).

"""

WEB = """\

## A hostile web at large

`tests/hostile/test_mixture.py` crawls 1,000 pages on 10 hosts, one page in five of which is drawn from 23 hostile
answers, and kills a crawl of the same kind ten times; `make soak` does it with 100,000 pages on 200 hosts, and with two
hundred kills. Each good page must be complete, each bad one stand in E with its class, the database be sound, and the
memory flat. `tests/hostile/test_fuzz.py` damages real inputs of every reader at random (addresses, pages, feeds,
sitemaps, manifests, movies, robots.txt, headers, cookies, configurations, seeds, expressions): nothing but the reader's
own class of error, and time that grows with the length; seconds a day, minutes each in the soak.

"""

BASE_HEAD = """\

## What may befall the database

Each with the line that is printed, the exit code of the crawl, and what is left.

"""

HAND = """\

## Bad inputs, tried by hand

What was typed after `spider`, in a folder with some good and bad files, what was printed, and the exit code;
`tests/hostile/test_hand.py` types all of them again and holds the program to it.

"""


def cell(text: str) -> str:
    """Make a text safe inside a table."""
    return html.escape(" ".join(text.split()), quote=False).replace("|", "\\|").replace("*", "\\*")


def code(text: str) -> str:
    """Show a text as code inside a table, line by line."""
    lines = [html.escape(line, quote=False).replace("|", "&#124;") for line in text.split("\n")]
    return "<br>".join(f"<code>{line.replace('  ', '&nbsp; ')}</code>" for line in lines if line)


def played(row: Row) -> list[Scenario]:
    """Return the scenarios of a row."""
    return [scenario for scenario in SCENARIOS if scenario.row == row.number]


def figures() -> dict[str, dict[str, float]]:
    """Return what the scenarios took when they were last measured."""
    known: dict[str, dict[str, float]] = json.loads(FIGURES.read_text(encoding="utf-8"))
    return known


def measured(row: Row, known: dict[str, dict[str, float]]) -> str:
    """Tell the most that the scenarios of a row took."""
    found = [known[scenario.id] for scenario in played(row) if scenario.id in known]
    if not found:
        return ""
    seconds, memory = max(one["seconds"] for one in found), max(one["growth"] for one in found)
    return f"{seconds:.1f} s, {memory:.0f} MB"


def proofs(row: Row) -> str:
    """Name what proves a row: its scenarios, then the tests beside them."""
    scenes = [scenario.name for scenario in played(row)]
    parts = [f"played: {cell('; '.join(scenes))}"] if scenes else []
    return "<br>".join([*parts, *named(row.tests)])


def named(tests: tuple[str, ...]) -> list[str]:
    """Write the names of tests, below ``tests/``."""
    return [f"`{test.removeprefix('tests/')}`" for test in tests]


def row_lines() -> list[str]:
    """Return the table of the rows."""
    known = figures()
    lines = ["| | What happens | What is promised | Bound | Measured | Proof |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {row.number} | {cell(row.attack)} | {cell(row.promise)} | {cell(row.figure)} | {measured(row, known)} "
        f"| {proofs(row)} |"
        for row in ROWS
    ]
    lines += [
        "",
        f"Played scenarios are parameters of `{WIRE}`: {len(SCENARIOS)} of them. Measured is the most that one",
    ]
    lines += ["of the row took, with a deadline of 1 to 10 s, and by how much the process grew meanwhile."]
    return lines


def soak_lines() -> list[str]:
    """Tell what the last soaks measured."""
    known = measured_soak()
    inputs = {name.removeprefix("inputs: "): number for name, number in known.items() if name.startswith("inputs: ")}
    share = known["failed"] / known["pages"]
    return [
        "",
        f"The last soak: {known['pages']:,} pages on {known['hosts']} hosts in {known['seconds']:,} s",
        f"on two processors, {share:.0%} of them failed, each with its class; all processes together had",
        f"{known['first']} MB after the first tenth, {known['last']} MB in the last, {known['most']} MB at the most.",
        f"{known['kills']} kills: nothing lost. Damaged inputs read: {sum(inputs.values()):,}, of {len(inputs)} kinds.",
        "",
    ]


def fault_lines() -> list[str]:
    """Return the table of what may befall the database."""
    lines = ["| What | Printed | Code | Left | Proof |", "|---|---|---|---|---|"]
    lines += [
        f"| {cell(one.what)} | {cell(one.said)} | {one.code} | {cell(one.left)} | {'<br>'.join(named(one.tests))} |"
        for one in FAULTS
    ]
    return lines


def hand_lines() -> list[str]:
    """Return the table of what bad inputs are answered with."""
    lines = ["| Typed | Code | Printed |", "|---|---|---|"]
    lines += [f"| {code(one.typed or ' ')} | {one.code} | {code(one.printed)} |" for one in hand.recorded()]
    return lines


def render() -> str:
    """Return the whole file's text."""
    parts = (HEAD, row_lines(), WEB, soak_lines(), BASE_HEAD, fault_lines(), HAND, hand_lines())
    text = "".join(part if isinstance(part, str) else "\n".join(part) + "\n" for part in parts)
    return re.sub(r"\n{3,}", "\n\n", text)


def measure() -> None:
    """Play all scenarios and write down what each took."""
    with tempfile.TemporaryDirectory() as folder:
        spider = Spider(Path(folder))
        play(Scenario(0, "nothing bad"), spider)
        found = {}
        for scenario in SCENARIOS:
            result = play(scenario, spider)
            found[scenario.id] = {
                "seconds": round(result.seconds, 1),
                "growth": result.facts["growth"],
                "deadline": {**BASE, **scenario.plan}["deadline"],
            }
        spider.close()
    FIGURES.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> None:
    """Write the file, or with ``--check`` say whether it is up to date."""
    if "--measure" in sys.argv[1:]:
        measure()
    text = render()
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(text, encoding="utf-8")
    elif not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
        sys.exit("docs/reliability.md is out of date; run: make docs")


if __name__ == "__main__":
    main()
