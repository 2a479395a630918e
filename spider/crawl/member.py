"""What a worker process of a crawl does, from its orders to its end.

A line leads to the process that began it; when that ends, so does this one.
"""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import traceback
from multiprocessing.reduction import recv_handle

from spider.crawl.clock import SystemClock
from spider.crawl.marks import share
from spider.crawl.orders import READY, STOP_NOW, Connection, Ended, Orders, told
from spider.crawl.process import bind, settle
from spider.crawl.shift import Shift
from spider.errors import SpiderError
from spider.store import Database

__all__ = ["work"]


def work(number: int) -> None:
    """Do what the orders say that come over a line, an open file's number, and tell how it ended."""
    for sent in (signal.SIGINT, signal.SIGHUP):  # a terminal sends them to all; who began this one passes them on
        signal.signal(sent, signal.SIG_IGN)
    settle()
    with Connection(number) as line:
        try:
            orders = line.recv()
            share(recv_handle(line))
        except (EOFError, OSError):
            return
        ended = _worked(line, orders)
        with contextlib.suppress(OSError):  # nobody is there to hear it
            line.send(ended)


def _worked(line: Connection, orders: Orders) -> Ended:
    try:
        return Ended(_work(line, orders))
    except SpiderError as error:
        return Ended(None, str(error), error.exit_code)
    except Exception as error:  # noqa: BLE001  # told to who can show it
        return Ended(None, f"{type(error).__name__}: {error}", 1, traceback.format_exc())


def _work(line: Connection, orders: Orders) -> str | None:
    if orders.core is not None:
        bind({orders.core})
    clock = SystemClock()
    until = math.inf if orders.lasts is None else clock.steady() + orders.lasts
    with Database.open(orders.address, create=False) as database:
        shift = Shift(database, orders.plan, clock=clock)
        signal.signal(signal.SIGTERM, lambda *_: shift.stop())
        threading.Thread(target=_listen, args=(line, shift), daemon=True).start()
        shift.worker.ledger.join(orders.run_id)
        try:
            _tell(line, READY)
            for outcomes in shift.rounds(until=until):
                said = list(told(outcomes, every=orders.tells))
                if said:
                    _tell(line, said)
        finally:
            shift.worker.close()  # before others may lease the hosts
            shift.worker.ledger.leave()
    if shift.error is not None:
        raise shift.error
    return shift.why


def _tell(line: Connection, what: object) -> None:
    with contextlib.suppress(OSError):  # who listened is gone, which the other thread sees too
        line.send(what)


def _listen(line: Connection, shift: Shift) -> None:
    """Pass orders on to the shift; the end of who gives them is an order to stop at once."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            shift.stop(now=line.recv() == STOP_NOW)
    shift.stop(now=True)
