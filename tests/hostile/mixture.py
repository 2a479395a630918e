"""A web of many hosts on which one page in five is hostile: which page is what follows from its number."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from tests.hostile.answers import CHUNKED, OK, bomb, drip, moved, page, raw, silence
from tests.server import Asked, Raw, Reply

__all__ = ["HOSTILE", "SLOW", "Mixture"]

Answer = Reply | Raw | str | bytes

HOSTILE: tuple[tuple[str, Answer, str], ...] = (
    ("a reset", raw(b"", reset=True), "connect"),
    ("nothing", raw(b""), "connect"),
    ("no status line", raw(b"hello\r\n\r\n"), "protocol"),
    ("status 1000", raw(b"HTTP/1.1 1000 OK\r\n\r\n"), "protocol"),
    ("a thousand headers", raw(OK + b"X: y\r\n" * 1000 + b"\r\n"), "protocol"),
    ("a header of 70 kB", raw(OK + b"X: " + b"y" * 70_000 + b"\r\n\r\n"), "protocol"),
    ("a short body", raw(OK + b"Content-Length: 10\r\n\r\nshort"), "content"),
    ("two lengths", raw(OK + b"Content-Length: 5\r\nContent-Length: 7\r\n\r\nhello"), "content"),
    ("a broken chunk", raw(CHUNKED + b"xyz\r\nhello\r\n"), "protocol"),
    ("fifty codings", Reply(gzip.compress(b"x"), headers=(("Content-Encoding", ", ".join(["gzip"] * 50)),)), "content"),
    ("no gzip", Reply(b"no gzip", headers=(("Content-Encoding", "gzip"),)), "content"),
    ("a broken Location", moved("http://[::1"), "redirect"),
    ("another scheme", moved("file:///etc/passwd"), "redirect"),
    ("status 404", Reply(status=404), "client"),
    ("status 500", Reply(status=500), "server"),
    ("ninety cookies", Reply(headers=tuple(("Set-Cookie", f"c{n}={'x' * 4000}") for n in range(90))), "C"),
    ("a bomb", bomb(3, "gzip"), "C"),
    ("20,000 attributes", f"<a {' '.join(f'a{n}=1' for n in range(20_000))}>", "C"),
    ("deep nesting", "<div>" * 20_000, "C"),
    ("links to nowhere", page(*("http://[::1", "javascript:x", "http://a b/", "data:,x") * 20), "C"),
)
"""Name, answer, and what must become of the link: C, or a class of failure."""

SLOW: tuple[tuple[str, Answer, str], ...] = (
    ("a drip of headers", drip(OK, b"X-More: y\r\n"), "deadline"),
    ("a drip of the body", drip(OK + b"Content-Length: 1000\r\n\r\n", b"x"), "deadline"),
    ("silence", silence(), "timeout"),
)


@dataclass(frozen=True, slots=True)
class Mixture:
    """So many hosts with so many pages each, the list of them at ``/``; one in `slow` of all is slow to fail."""

    hosts: int
    pages: int
    slow: int = 100

    def expected(self) -> Iterator[tuple[str, str]]:
        """Yield each address, as host and path, with what must become of it."""
        for host in range(1, self.hosts + 1):
            name = f"127.0.0.{host}"
            yield f"{name}/", "C"
            for number in range(self.pages):
                yield f"{name}/{number}", self._choose(name, number)[1]

    def answer(self, asked: Asked) -> Answer | None:
        """Answer a request."""
        name = asked.path[1:]
        if not name:
            return page(*(f"/{number}" for number in range(self.pages)))
        return self._choose(asked.host, int(name))[0] if name.isdigit() else None

    def _choose(self, host: str, number: int) -> tuple[Answer, str]:
        dice = int.from_bytes(hashlib.blake2b(f"{host} {number}".encode(), digest_size=8).digest(), "big")
        dice, slow = divmod(dice, self.slow)
        if slow == 0:
            return SLOW[dice % len(SLOW)][1:]
        dice, hostile = divmod(dice, 100)
        if hostile < 20:  # one in five
            return HOSTILE[dice % len(HOSTILE)][1:]
        return f'<title>{number}</title><a href="/">up</a><video src="{number}.mp4"></video>' + "<p>text" * 50, "C"
