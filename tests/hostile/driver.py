"""The spider as a process of its own that crawls on request, and tells the time and the memory that it took.

One JSON object a line on the standard input is a crawl: ``db`` (a file), ``seeds``, ``plan`` (fields of
`spider.crawl.Plan`), ``names`` (what host names lead to: a list of addresses for each look-up in turn, the last
for ever; "slow", "nxdomain" or "servfail" in place of one).  One line back is what came of it.
"""

from __future__ import annotations

import ctypes
import json
import shutil
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from spider.crawl import Crawler, Plan, Seed
from spider.crawl.process import settle
from spider.model import Failed, Fetched, Outcome, Skipped
from spider.store import Database

LOOK_UP = socket.getaddrinfo
SLOW = 5.0  # seconds that a slow look-up takes
ERRORS = {"nxdomain": socket.EAI_NONAME, "servfail": socket.EAI_AGAIN}


def memory(field: str) -> int:
    """Return a field of this process's status in KiB: VmRSS is what it has, VmHWM the most it had."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1])
    return 0


def calm() -> int:
    """Give free memory back, let the peak begin anew, and return what this process has in KiB."""
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # proc(5): resets the peak
    return memory("VmRSS")


def told(names: Mapping[str, Sequence[str]]) -> Any:  # noqa: ANN401  # the standard library's signature
    """Return a resolver that knows these names, each with an answer for each look-up in turn."""
    turns: dict[str, Iterator[str]] = {name: iter(answers) for name, answers in names.items()}
    last: dict[str, str] = {}
    lock = threading.Lock()

    def look_up(host: bytes, port: int, **options: int) -> Any:  # noqa: ANN401
        name = host.decode("ascii")
        if name not in names or options.get("flags"):
            return LOOK_UP(host, port, **options)
        with lock:
            answer = last[name] = next(turns[name], last.get(name, "nxdomain"))
        if answer == "slow":
            time.sleep(SLOW)
            answer = "nxdomain"
        if answer in ERRORS:
            raise socket.gaierror(ERRORS[answer], answer)
        return LOOK_UP(answer.encode(), port, **options)

    return look_up


def row(outcome: Outcome) -> dict[str, object]:
    """Return what became of a link, and when by the machine's steady clock."""
    facts: dict[str, object] = {"url": outcome.request.url, "at": time.monotonic()}
    match outcome:
        case Fetched(response=response, page=page):
            facts |= {"is": "C", "status": response.status, "cut": response.truncated, "size": len(response.body)}
            facts["links"] = len(page.links) if page else 0
            facts["media"] = [medium.url for medium in page.media] if page else []
            facts["notes"] = list(page.notes) if page else []
        case Failed(reason=reason, message=message):
            facts |= {"is": str(reason), "message": message}
        case Skipped(rule=rule):
            facts |= {"is": f"rule {rule}"}
    return facts


def crawl(job: Mapping[str, Any]) -> dict[str, object]:
    """Do one crawl and return what came of it."""
    socket.getaddrinfo = told(job.get("names", {}))
    before = calm()
    began, worked = time.monotonic(), time.process_time()
    with Database.open(job["db"]) as database:
        crawler = Crawler(database, Plan(**job["plan"]), seeds=[Seed(seed) for seed in job["seeds"]])
        outcomes = [row(outcome) for outcome in crawler.run()]
    return {
        "outcomes": outcomes,
        "seconds": time.monotonic() - began,
        "labour": time.process_time() - worked,
        "growth": round((memory("VmHWM") - before) / 1024, 1),
        "kept": round((memory("VmRSS") - before) / 1024, 1),
        "exit": crawler.exit_code,
        "last": crawler.last_line(),
        "files": sorted(path.name for path in Path.cwd().iterdir()),
        "modules": sorted(name for name in sys.modules if name.startswith("tests.hostile.")),
    }


def main() -> None:
    """Serve until the input ends; a fresh database is a copy of one that was made at the start."""
    settle()  # as `spider crawl` does
    template = Path(sys.argv[1])
    Database.open(str(template)).close()
    for line in sys.stdin:
        job = json.loads(line)
        if not Path(job["db"]).exists():
            shutil.copyfile(template, job["db"])
        print(json.dumps(crawl(job)), flush=True)  # noqa: T201  # the answer


if __name__ == "__main__":
    main()
