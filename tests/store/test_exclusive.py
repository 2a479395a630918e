"""Two that want to be alone on one database, on both engines: never both, and never neither for long."""

from __future__ import annotations

import threading
from collections.abc import Callable

from spider.crawl import Crawler, Plan, Seed
from spider.errors import BusyError
from spider.store import Database, ask, workers
from tests.server import Reply, WebServer


def test_of_many_that_begin_at_once_one_is_alone(web: Callable[..., WebServer], database: Database) -> None:
    """However they meet, exactly one crawls and the others leave; when it has ended, another may begin."""
    site = web(lambda asked: Reply("x", delay=0.5) if asked.path == "/" else None)
    start = threading.Barrier(4)
    ended: list[str] = []

    def crawl() -> None:
        crawler = Crawler(database, Plan(delay=0.0, exclusive=True, allow_private=True), seeds=[Seed(site.url)])
        start.wait(10)
        try:
            list(crawler.run())
            ended.append("crawled")
        except BusyError as error:
            ended.append("busy" if error.exit_code == 8 else "")

    threads = [threading.Thread(target=crawl) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(ended) == ["busy", "busy", "busy", "crawled"]
    with database.read() as connection:
        assert (len(ask.runs(connection)), workers.rows(connection)) == (1, [])
    again = Crawler(database, Plan(delay=0.0, exclusive=True, allow_private=True))
    assert list(again.run()) == []
    assert again.exit_code == 0
