"""The small parts of a crawl: the gate, retries, the identity of processes, the crew."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, replace

import pytest

from spider.crawl.crew import Crew
from spider.crawl.permit import Gate
from spider.crawl.plan import Plan
from spider.crawl.process import is_alive, this_process
from spider.crawl.retries import retry_at
from spider.crawl.scope import Judge
from spider.errors import SettingError
from spider.fetch import Ruling
from spider.model import Accepted, Purpose, Reason, Rejected, SeedOrigin, SeedStatus
from spider.store.seeds import SeedRow

OPEN = Ruling("http://h.test/robots.txt", 200, b"User-agent: *\nDisallow: /closed")
DOWN = Ruling("http://h.test/robots.txt", 503)
NONE = Ruling("http://h.test/robots.txt", 404)


@dataclass
class Held:
    """A clock and a die that stand still."""

    at: int = 1_000_000_000
    die: float = 0.5

    def now(self) -> int:
        """Return the time."""
        return self.at

    def steady(self) -> float:
        """Return the time in seconds."""
        return self.at / 1e6

    def chance(self) -> float:
        """Return the die."""
        return self.die


@pytest.mark.parametrize(
    ("url", "purpose", "ruling", "verdict"),
    [
        ("http://h.test/open", Purpose.PAGE, OPEN, Accepted()),
        ("http://h.test/closed", Purpose.PAGE, OPEN, Rejected("robots")),
        ("http://h.test/closed", Purpose.ASSET, OPEN, Accepted()),
        ("http://h.test/closed", Purpose.XHR, OPEN, Rejected("robots")),
        ("http://h.test/closed", Purpose.PAGE, NONE, Accepted()),
        ("http://h.test/open", Purpose.PAGE, DOWN, Rejected("robots-unreachable")),
        ("http://h.test/open", Purpose.PAGE, None, Rejected("robots-unknown")),
        ("http://h.test/robots.txt", Purpose.ROBOTS, None, Accepted()),
        ("ftp://h.test/", Purpose.ROBOTS, None, Rejected("scheme")),
        ("file:///etc/passwd", Purpose.PAGE, OPEN, Rejected("scheme")),
        ("http://gone.test/", Purpose.ROBOTS, None, Rejected("forgotten")),
    ],
)
def test_the_gate_names_its_rule(url: str, purpose: Purpose, ruling: Ruling | None, verdict: object) -> None:
    """The gate asks scheme, then what was forgotten, then robots.txt where it speaks of the purpose."""
    judge = Judge((), forgotten=frozenset({"gone.test"}))
    gate = Gate(lambda: judge, obey_robots=True, ruling_of=lambda _url: ruling)
    assert gate.permit(url, purpose) == verdict


def test_a_failure_is_tried_again_later_each_time() -> None:
    """The wait doubles with each try, is spread by a half of itself, and ends with the retries."""
    clock = Held()
    waits = [
        (retry_at(Reason.TIMEOUT, attempt, retries=3, clock=clock, waits=True) or 0) - clock.at for attempt in (1, 2, 3)
    ]
    assert waits == [1_000_000, 2_000_000, 4_000_000]
    assert retry_at(Reason.TIMEOUT, 4, retries=3, clock=clock, waits=True) == clock.at + 20 * 3600 * 10**6
    assert retry_at(Reason.TIMEOUT, 4, retries=3, clock=clock, waits=False) is None
    low, high = (retry_at(Reason.TIMEOUT, 1, retries=3, clock=Held(die=d), waits=True) for d in (0.0, 1.0))
    assert (low, high) == (clock.at + 750_000, clock.at + 1_250_000)


@pytest.mark.parametrize("reason", list(Reason))
def test_only_what_may_heal_is_tried_again(reason: Reason) -> None:
    """4xx, bad content and refusals are never tried again by themselves; the server's Retry-After is honoured."""
    when = retry_at(reason, 1, retries=3, clock=Held(), waits=True, asked=77)
    assert when == (Held().at + 77_000_000 if reason.heals else None)
    assert retry_at(reason, 1, retries=3, clock=Held(), waits=False, asked=77) == (Held().at if reason.heals else None)
    never = {Reason.CLIENT, Reason.CONTENT, Reason.REDIRECT, Reason.ROBOTS, Reason.REFUSED, Reason.INTERNAL}
    assert reason.heals == (reason not in never)


def test_a_process_is_known_from_its_number_used_again() -> None:
    """One process lives; its number with another start or boot does not; of another machine's nobody here knows."""
    me = this_process()
    assert me.pid == os.getpid()
    assert is_alive(me) is True
    assert is_alive(replace(me, started=f"{me.started}0")) is False
    assert is_alive(replace(me, boot_id="another")) is False
    assert is_alive(replace(me, machine="another")) is None


def test_a_killed_process_is_dead_even_before_it_is_waited_for() -> None:
    """A zombie does no work: its links may go back at once."""
    code = "from spider.crawl.process import this_process; print(repr(this_process()), flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as process:
        assert process.stdout is not None
        text = process.stdout.readline()
        started = text.partition("started='")[2].partition("'")[0]
        other = replace(this_process(), pid=process.pid, started=started)
        assert is_alive(other) is True
        process.kill()
        while is_alive(other):  # the kernel needs a moment
            pass
        assert process.returncode is None
        assert is_alive(other) is False


def test_a_crew_begins_no_more_threads_than_jobs_need() -> None:
    """Threads begin one by one as jobs outnumber them, and results come back in any order, none lost."""
    crew: Crew[int, int] = Crew(3, lambda job: job * job)
    found: list[int] = []
    for job in range(20):
        while not crew.free:
            found += crew.collect(1)
        crew.submit(job)
    while crew.busy:
        found += crew.collect(1)
    assert sorted(found) == [job * job for job in range(20)]
    assert crew.free == 3
    crew.close()


def test_a_crew_does_what_it_is_given_together_in_turn() -> None:
    """One thread does them one behind the other; where one says that it goes no further, the rest comes back undone."""
    done: list[int] = []

    def perform(job: int) -> int:
        done.append(job)
        return job

    crew: Crew[int, int] = Crew(2, perform, goes_on=lambda result: result != 13)
    found: list[int] = []
    for given in (range(8), (12, 13, 14, 15)):
        crew.submit(*given)
        while crew.busy:
            assert (crew.busy, crew.free) == (1, 1)
            found += crew.collect(1)
    assert found == done == [*range(8), 12, 13]
    assert crew.left == [14, 15]
    crew.close()


def test_a_crew_waits_no_longer_for_a_signal() -> None:
    """A signal whose handler takes longer than the wait has left does not make the wait endless."""
    crew: Crew[int, int] = Crew(1, lambda job: job)
    before = signal.signal(signal.SIGUSR1, lambda *_: time.sleep(0.3))
    try:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        assert crew.collect(0.2) == []
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_a_plan_refuses_a_pattern_that_is_none() -> None:
    """A pattern that is no regular expression names the setting and itself."""
    seed = SeedRow(1, "http://h.test/", SeedOrigin.HAND, SeedStatus.ACTIVE, None, None, {})
    with pytest.raises(SettingError, match=r"exclude: '\(' is not a regular expression"):
        Plan(exclude=["("]).scope_of(seed)
