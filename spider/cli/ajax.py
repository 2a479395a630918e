"""``spider ajax``: paper 4, the states of one application, and what they ask for and show."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

import click

from spider import settings
from spider.ajax import AjaxFetcher, Application, Browser, Identity, Limits, Terms, Ways
from spider.cli.asking import web_address
from spider.cli.ending import say
from spider.cli.listing import output_option
from spider.cli.network import NETWORK, asking
from spider.cli.options import Globals, setting_options
from spider.cli.output import opened, show
from spider.crawl.clock import SystemClock
from spider.crawl.passage import Passage, Pauses, Rulings, Shared
from spider.crawl.permit import Gate
from spider.crawl.scope import Judge, SeedScope
from spider.errors import InputError
from spider.fetch import Client, Pace
from spider.model import Request, Scope
from spider.report import Line, Span, json_text, many, visible
from spider.url import host

__all__ = ["ajax", "command"]

LIMIT = 4
SIGNALLED = 128
_USED = (*NETWORK, "scope", "robots", "max-size")
_NETWORK = tuple(name.replace("-", "_") for name in NETWORK)
_EXAMPLES = """\b
Examples:
  spider ajax http://localhost:8000/app/
  spider ajax --depth 3 --format dot --output graph.dot https://example.com/
"""


@click.command("ajax", epilog=_EXAMPLES)
@click.argument("url")
@click.option(
    "--depth", type=click.IntRange(0), default=5, show_default=True, help="Go this many events from the start."
)
@click.option(
    "--max-states", type=click.IntRange(1), default=500, show_default=True, help="Find at most this many states."
)
@click.option(
    "--max-events", type=click.IntRange(1), default=5000, show_default=True, help="Fire at most this many events."
)
@click.option(
    "--max-seconds",
    type=click.FloatRange(0, min_open=True),
    default=600,
    show_default=True,
    help="Stop after this long.",
)
@click.option(
    "--identity",
    type=click.Choice([one.value for one in Identity]),
    default="structure",
    show_default=True,
    help="What makes a state.",
)
@click.option("--near-duplicates", is_flag=True, help="Count rows of one shape as one.")
@click.option("--all-orders", is_flag=True, help="Fire independent events in every order too.")
@click.option("--allow-post", is_flag=True, help="Send requests that may change something on the site.")
@click.option("--browser", metavar="PATH", help="The browser to use; else one on PATH, else Playwright's.")
@click.option("--screenshots", metavar="DIR", help="Put a picture of each state there.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "dot"]),
    default="table",
    show_default=True,
    help="How to write.",
)
@output_option
@setting_options(without=[one.name for one in settings.SETTINGS if one.name not in _USED], scope="host")
@click.pass_obj
def ajax(given: Globals, /, url: str, *, form: str, output: str | None, browser: str | None, **values: Any) -> int:  # noqa: ANN401  # the options
    """Explore an application's states with a browser.

    Opens URL, fires the events of its elements, and tells which states that leads
    to, which resources of the server it asks for, which links and media its states
    show. Nothing but GET is sent, and nothing outside the scope is asked for.
    """
    address = web_address(url)
    pictures = _folder(values.pop("screenshots"))
    found = _explored(address, browser, pictures, **values)
    with opened(output) as stream:
        _FORMS[form](found, stream)
    if found.ended and not given.quiet:
        say(f"stopped by a limit: {found.ended}")
    return LIMIT if found.ended else 0


def _folder(name: str | None) -> Path | None:
    """Return the folder for pictures, made where it is not there; InputError where it cannot be."""
    if name is None:
        return None
    try:
        Path(name).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot make {visible(name)}: {getattr(error, 'strerror', None) or error}".lower()) from error
    return Path(name)


def _explored(address: str, browser: str | None, pictures: Path | None, **values: Any) -> Application:  # noqa: ANN401
    """Explore an application with the options' values."""
    limits = Limits(values["depth"], values["max_states"], values["max_events"], seconds=values["max_seconds"])
    ways = Ways(Identity(values["identity"]), values["near_duplicates"], not values["all_orders"], pictures)
    given = asking(address, **{name: values[name] for name in _NETWORK}, max_size=values["max_size"])
    program = Browser(browser, agent=given.user_agent, walled=True)
    with _stoppable(program), Client(given) as client, program:
        passage = _passage(address, Scope(values["scope"]), client, obey=values["robots"] == "obey")
        terms = Terms(values["allow_post"], values["max_size"], values["deadline"], headers=client.headers_for)
        with client.proxy(passage.guard, passage) as proxy:
            fetcher = AjaxFetcher(
                program, passage.permit, limits=limits, terms=terms, ways=ways, proxy=proxy.url
            )  # fmt: skip
            return program.run(fetcher.explore(address))


@contextlib.contextmanager
def _stoppable(program: Browser) -> Iterator[None]:
    """Let the first SIGINT or SIGTERM end the browser's work in order, and a second one the program at once."""
    caught: list[int] = []

    def stop(number: int, _frame: object) -> None:
        caught.append(number)
        if len(caught) > 1:
            raise SystemExit(SIGNALLED + number)
        program.interrupt()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except asyncio.CancelledError:
        raise SystemExit(SIGNALLED + caught[0]) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _passage(address: str, scope: Scope, client: Client, *, obey: bool) -> Passage:
    """Return the gate: documents and what scripts ask for stay in scope and obey robots.txt, all obey the guard."""
    judge = Judge([SeedScope(1, address, scope, 0)])
    gate = Gate(lambda: judge, obey_robots=obey, ruling_of=lambda _: None)
    clock = SystemClock()
    shared = Shared(Rulings(client, clock), Pauses(clock, Pace(0.0)))
    return Passage(
        Request(address, seed_id=1), gate, lambda: judge, guard=client.guard_of(host(address)), shared=shared
    )  # fmt: skip


# -- forms ---------------------------------------------------------------------------------------------


def plain(found: Application) -> dict[str, object]:
    """Return what was found as JSON has it."""
    return {
        "url": found.url,
        "states": [
            {"id": one.id, "depth": one.depth, "identity": one.identity, "url": one.url, "screenshot": one.screenshot}
            for one in found.states
        ],
        "transitions": [
            {"from": one.source, "to": one.target, "event": one.event, "element": one.element}
            for one in found.transitions
        ],
        "resources": [
            {
                "method": one.method, "url": one.url, "kind": one.kind, "state": one.state,
                "event": one.transition[0] if one.transition else None,
                "element": one.transition[1] if one.transition else None,
                "body_shape": one.body_shape, "status": one.status, "mime": one.mime, "refused": one.refused,
            }
            for one in found.resources.values()
        ],
        "links": [{"url": url, "text": text} for url, text in found.links.items()],
        "media": [
            {"url": one.url, "kind": str(one.kind), "state": found.state_of[one.url]} for one in found.media.values()
        ],
        "feeds": list(found.feeds),
        "mentions": [
            {"url": url, "source": str(link.source)}
            for url, link in found.mentions().items()
            if url not in found.links
        ],
        "counts": {
            "loads": found.loads, "events": found.fired, "left_out": found.left_out, "requests": found.sent,
            "seconds": round(found.seconds, 3),
        },
        "notes": found.notes,
        "ended": found.ended,
    }  # fmt: skip


def _json(found: Application, stream: TextIO) -> None:
    stream.write(json_text(plain(found)) + "\n")


def _dot(found: Application, stream: TextIO) -> None:
    """Write the graph in Graphviz's language."""
    stream.write("digraph states {\n")
    stream.writelines(f'  {state.id} [label="{state.id} (depth {state.depth})"];\n' for state in found.states)
    for one in found.transitions:
        label = visible(f"{one.event} {one.element}").replace("\\", "\\\\").replace('"', '\\"')
        stream.write(f'  {one.source} -> {one.target} [label="{label}"];\n')
    stream.write("}\n")


def _table(found: Application, stream: TextIO) -> None:
    show(_lines(found), stream)


def _lines(found: Application) -> Iterator[Line]:
    """Yield what was found, part by part, and a last line that counts it."""
    yield (Span(visible(found.url), "page"),)
    for state in found.states:
        yield (Span(f"  state {state.id}, depth {state.depth}  ", "head"), Span(visible(state.url), "detail"))
        for one in found.transitions:
            if one.source == state.id:
                yield (Span(f"    {one.event} {visible(one.element)} "), Span(f"→ {one.target}", "head"))
    for resource in found.resources.values():
        note = f" refused ({resource.refused})" if resource.refused else f" {resource.status or ''}"
        yield (
            Span(f"  {resource.method} ", "detail"),
            Span(visible(resource.url), "page"),
            Span(note.rstrip(), "detail"),
        )
    for url, text in found.links.items():
        yield (Span("  link ", "detail"), Span(visible(url), "page"), Span(f"  “{visible(text)}”" if text else ""))
    for medium in found.media.values():
        yield (Span(f"  {medium.kind} ", f"kind.{medium.kind}"), Span(visible(medium.url), "media"))
    for note in found.notes:
        yield (Span(f"  {visible(note)}", "bad"),)
    yield ()
    yield (Span(_counted(found), "head"),)


def _counted(found: Application) -> str:
    counts = (
        (len(found.states), "state"), (len(found.transitions), "transition"), (len(found.resources), "resource"),
        (len(found.links), "link"),
    )  # fmt: skip
    parts = [many(number, noun) for number, noun in counts]
    left = (
        f"; {many(found.left_out, 'event')} left out, since they change nothing of each other" if found.left_out else ""
    )
    media, loads, fired = (
        many(len(found.media), "medium", "media"),
        many(found.loads, "load"),
        many(found.fired, "event"),
    )
    return f"{', '.join(parts)}, {media}; {loads}, {fired}{left}"


_FORMS: dict[str, Callable[[Application, TextIO], None]] = {"table": _table, "json": _json, "dot": _dot}

command = ajax
