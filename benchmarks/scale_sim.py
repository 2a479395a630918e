"""How many pages a second would more workers and machines read?  A simulation, and the runs that it is held to.

A worker has threads that wait for hosts, one processor that reads pages, and the database, where writers take
turns: three service times, which are measured, and a law for the sizes of hosts (Zipf's, cut), which is assumed.
The events are those of the program: a host is one worker's at a time and is asked again after its delay, outcomes
are written in batches, and links that wait are shared out by hosts.  ::

    python benchmarks/scale_sim.py            # the forecast, with the service times of docs/scale.md
    python benchmarks/scale_sim.py --check    # first measure 1, 2 and 4 workers here, and compare
"""

from __future__ import annotations

import argparse
import contextlib
import heapq
import itertools
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks._served import ROOT, Sites, nginx

ENV = {name: value for name, value in os.environ.items() if not name.startswith("SPIDER_")} | {"PYTHONPATH": str(ROOT)}
BATCH = 200  # outcomes of one transaction at the most
LATE = 0.2  # seconds that one waits at the most
DUE, COME, READ = range(3)
ROUNDS = 3  # of measuring, the middle one of which counts
STAT = Path("/proc/stat")
TICKS = os.sysconf("SC_CLK_TCK")
TOLERANCE = 0.25  # by how much a forecast may miss a measurement before nothing further out is believed


@dataclass(frozen=True, slots=True)
class Times:
    """Service times, in seconds.

    Of a page on a worker's processor, of a page and a transaction in the database; of a page on the processors of the
    machine for those who serve it, where they stand on the same one; of a start, and of each worker's own.
    """

    read: float = 0.0020
    write: float = 0.0004
    begin: float = 0.0010
    served: float = 0.0
    start: float = 0.45
    joins: float = 0.0
    together: bool = False  # whether the database stands on the processors of the workers


@dataclass(frozen=True, slots=True)
class Crawl:
    """What is crawled, by what: pages by host, latency and delay of each in seconds.

    `cores` may be less than there are, where others are at work on them; a worker has one of them at the most.
    """

    hosts: int
    pages: int
    latency: float
    delay: float
    workers: int
    threads: int
    cores: float
    skew: float = 1.0


def sizes(crawl: Crawl, dice: random.Random) -> list[int]:
    """Share the pages out over the hosts: the n-th has as much as n to the power of minus the skew."""
    weights = [1 / (rank + 1) ** crawl.skew for rank in range(crawl.hosts)]
    whole = sum(weights)
    found = [max(1, round(crawl.pages * weight / whole)) for weight in weights]
    dice.shuffle(found)
    return found


class Station:
    """A server with one queue and several places; the time of each job is known when it comes."""

    def __init__(self, places: int) -> None:
        """Be free."""
        self._free = [0.0] * places

    def serve(self, now: float, seconds: float) -> float:
        """Return when a job that comes now is done."""
        done = max(now, heapq.heappop(self._free)) + seconds
        heapq.heappush(self._free, done)
        return done


def simulate(crawl: Crawl, times: Times, *, part: float = 1.0, seed: int = 1) -> float:
    """Return pages a second until a part of all pages is read.

    The end of a crawl is its largest host's alone, so that a part says more of what the workers can do.
    """
    return _Simulation(crawl, times, random.Random(seed)).run(part)


class _Simulation:
    """Events in order of time: a host is due, its page comes, is read, is written.

    A worker reads on one core; the workers of all machines share all cores, and the one database.
    """

    def __init__(self, crawl: Crawl, times: Times, dice: random.Random) -> None:
        self.crawl, self.times = crawl, times
        self.left = sizes(crawl, dice)
        places = math.ceil(crawl.cores)
        self.cores, self.database = Station(places), Station(1)
        self.slower, self.alone = places / crawl.cores, max(1.0, 1 / crawl.cores)
        self.own = [Station(1) for _ in range(crawl.workers)]
        self.free = [crawl.threads] * crawl.workers
        self.idle: list[deque[int]] = [deque() for _ in range(crawl.workers)]
        self.batch, self.oldest = [0] * crawl.workers, [0.0] * crawl.workers
        self.events: list[tuple[float, int, int, int]] = []
        self.order = itertools.count()
        joined = max(self.work(times.start, worker, times.joins) for worker in range(crawl.workers))
        for host in range(crawl.hosts):
            self.at(joined + dice.random() * min(1.0, crawl.delay), DUE, host)

    def at(self, moment: float, kind: int, host: int) -> None:
        """Let something happen."""
        heapq.heappush(self.events, (moment, next(self.order), kind, host))

    def work(self, now: float, worker: int, seconds: float) -> float:
        """Return when a worker has done something, on a processor of its own and of those that all share."""
        return max(self.own[worker].serve(now, seconds * self.alone), self.cores.serve(now, seconds * self.slower))

    def run(self, part: float) -> float:
        """Return pages a second."""
        wanted, done, now = sum(self.left) * part, 0, 0.0
        while self.events and done < wanted:
            now, _, kind, host = heapq.heappop(self.events)
            worker = host % self.crawl.workers
            if kind == DUE:
                self.idle[worker].append(host)
            elif kind == COME:
                self.cores.serve(now, self.times.served * self.slower)
                self.at(self.work(now, worker, self.times.read), READ, host)
            else:
                done += 1
                self.read(now, worker, host)
            while self.idle[worker] and self.free[worker]:
                self.free[worker] -= 1
                self.at(now + self.crawl.latency, COME, self.idle[worker].popleft())
        return done / now

    def read(self, now: float, worker: int, host: int) -> None:
        """Give the thread back, and write when there is enough, or it has waited for long."""
        self.free[worker] += 1
        self.left[host] -= 1
        self.oldest[worker] = self.oldest[worker] if self.batch[worker] else now
        self.batch[worker] += 1
        if self.batch[worker] >= BATCH or now - self.oldest[worker] >= LATE:
            seconds = self.times.begin + self.batch[worker] * self.times.write
            if self.times.together:
                self.cores.serve(now, seconds * self.slower)
                seconds *= self.alone
            self.own[worker].serve(now, max(0.0, self.database.serve(now, seconds) - now))
            self.batch[worker] = 0
        if self.left[host]:
            self.at(now + self.crawl.delay, DUE, host)


# --- the measured runs ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Run:
    """A measured crawl: seconds of wall, of processor time of its own and of the server, and the cores it could have.

    What other programs took of the machine meanwhile, no crawl can have.
    """

    wall: float
    own: float
    served: float
    cores: float


def measure(sites: Sites, workers: int) -> Run:
    """Crawl here."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["--db", f"{folder}/x.db", "-q", "crawl", "--delay", "0", "--depth", "99", "--workers", str(workers)]
        sites.answered()
        began, busy, served = time.perf_counter(), busy_seconds(), children_seconds(sites.pid)
        process = subprocess.Popen([sys.executable, "-m", "spider", *words, *sites.seeds], env=ENV)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        served, own = children_seconds(sites.pid) - served, usage.ru_utime + usage.ru_stime
        others = max(0.0, busy_seconds() - busy - own - served)
        if status:
            sys.exit(f"the crawl ended with {os.waitstatus_to_exitcode(status)}")
        sites.check("spider", once=True)
        return Run(wall, own, served, max(0.1, len(os.sched_getaffinity(0)) - others / wall))


def busy_seconds() -> float:
    """Return how long the processors of this machine have worked, all together."""
    user, nice, system, _, _, irq, softirq, steal, *_ = map(int, STAT.read_text().split("\n", 1)[0].split()[1:])
    return (user + nice + system + irq + softirq + steal) / TICKS


def children_seconds(pid: int | None) -> float:
    """Return how long the processes that a process began have worked."""
    found = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            found += (int(fields[11]) + int(fields[12])) * (int(fields[1]) == pid)
    return found / TICKS


def check(times: Times) -> Times:
    """Measure 1, 2 and 4 workers, and hold the simulation to them.

    What a page takes is learnt from one worker, what a worker takes before its first page from four: of both, the
    processor time alone, and nothing of how long it all took.
    """
    with tempfile.TemporaryDirectory() as folder, nginx(Path(folder), 8, 500) as sites:
        pages = len(sites.pages)
        runs = [{workers: measure(sites, workers) for workers in (1, 2, 4)} for _ in range(ROUNDS)]
    measured = {
        workers: sorted((each[workers] for each in runs), key=lambda run: run.wall)[ROUNDS // 2] for workers in runs[0]
    }
    one, four = measured[1], measured[4]
    written = times.write + times.begin / BATCH
    told = replace(
        times,
        read=(one.own - times.start) / pages - written,
        served=one.served / pages,
        joins=max(0.0, four.own - one.own) / 4,
        together=True,
    )
    missed = []
    for workers, run in measured.items():
        crawl = Crawl(8, pages, 0.001, 0.0, workers, 16, run.cores, skew=0.0)
        here = told if workers > 1 else replace(told, joins=0.0)
        forecast = simulate(crawl, here)
        missed.append(abs(forecast * run.wall / pages - 1))
        print(
            f"{workers} workers: measured {pages / run.wall:6.0f} pages/s ({run.own / pages * 1000:.2f} ms a page,"
            f" {run.cores:.2f} processors to be had), simulated {forecast:6.0f}: off by {missed[-1]:.0%}",
            flush=True,
        )
    if max(missed) > TOLERANCE:
        sys.exit(f"off by more than {TOLERANCE:.0%}: what it says of larger crawls is worth nothing here")
    return replace(told, start=0.0, joins=0.0, served=0.0, together=False)


def main() -> None:
    """Check, where asked to, and tell of larger crawls."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="measure 1, 2 and 4 workers first")
    given = parser.parse_args()
    times = check(Times()) if given.check else Times()
    print(
        "machines  workers   hosts  pages/s  (300 ms of latency, 1 s of delay, 64 threads a worker, 8 cores a machine)"
    )
    for machines, hosts in ((1, 500), (1, 2000), (1, 5000), (2, 5000), (4, 5000)):
        workers = 8 * machines
        crawl = Crawl(hosts, hosts * 20, 0.3, 1.0, workers, 64, workers, skew=0.8)
        print(f"{machines:8}  {workers:7}  {hosts:6}  {simulate(crawl, times, part=0.5):7.0f}", flush=True)


if __name__ == "__main__":
    main()
