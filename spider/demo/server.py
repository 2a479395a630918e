"""The sample site on a port of this machine: files from the package, and a few tables of special answers.

Everything that is served was read into memory first, so that a request names an entry of a table and never a
file.  What the server cannot know before it runs is its own address: `OWN_HOST` stands for it in robots.txt and the
sitemap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from importlib.resources.abc import Traversable
from socketserver import TCPServer
from threading import Thread
from typing import ClassVar

__all__ = ["ALIASES", "GONE", "OWN_HOST", "QUERIES", "REDIRECTS", "TYPES", "serve"]

OWN_HOST = b"http://museum.example"

TYPES: Mapping[str, str] = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "m3u8": "application/vnd.apple.mpegurl",
    "m4a": "audio/mp4",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "ogg": "audio/ogg",
    "ogv": "video/ogg",
    "png": "image/png",
    "svg": "image/svg+xml",
    "swf": "application/x-shockwave-flash",
    "ts": "video/mp2t",
    "txt": "text/plain; charset=utf-8",
    "vtt": "text/vtt; charset=utf-8",
    "wav": "audio/wav",
    "webm": "video/webm",
    "xml": "application/xml",
}
"""The Content-Type of a file by the end of its name."""

UNDECLARED = "/zh/"
"""Pages below it come without a charset in their Content-Type: their own meta element tells it."""

REDIRECTS: Mapping[str, tuple[HTTPStatus, str]] = {
    "/welcome.html": (HTTPStatus.MOVED_PERMANENTLY, "/visit.html"),
    "/tonight": (HTTPStatus.FOUND, "theatre/"),
    "/go/partner": (HTTPStatus.MOVED_PERMANENTLY, "http://partner.example/"),
    "/lost/a.html": (HTTPStatus.FOUND, "/lost/b.html"),
    "/lost/b.html": (HTTPStatus.FOUND, "/lost/a.html"),
    "/lost/self.html": (HTTPStatus.TEMPORARY_REDIRECT, "/lost/self.html"),
}
"""Where an address sends its visitor; a directory without its slash is sent to itself with one, too."""

GONE = frozenset({"/sounds/gone.html"})
"""What was here once: 410 where other missing pages are 404."""

ALIASES: Mapping[str, str] = {"/listen/bell": "/media/bell.mp3"}
"""Addresses whose name does not tell what they hold."""

QUERIES: Mapping[str, str] = {"/zh/find.html": "q=%B5%C6%D3%B0"}
"""The one query an address answers to: it says whether a visitor wrote it in the charset of the page (gb2312)."""

_RANGE = re.compile(r"bytes=(\d{1,12})-(\d{0,12})")
_MAX_BODY = 1_000_000


@dataclass(frozen=True, slots=True)
class _Entry:
    """One address of the site: what it is and what it holds."""

    type: str
    body: bytes

    @property
    def tag(self) -> str:
        """The entity tag: it changes with the content."""
        return f'"{blake2b(self.body, digest_size=8).hexdigest()}"'


def _entries(folder: Traversable, path: str = "/") -> Iterator[tuple[str, _Entry]]:
    """Yield what the folder and those in it hold; an index page has the address of its directory."""
    for item in folder.iterdir():
        if item.is_dir():
            yield from _entries(item, f"{path}{item.name}/")
            continue
        kind = TYPES[item.name.rpartition(".")[2]]
        if path.startswith(UNDECLARED):
            kind = kind.partition(";")[0]
        yield path + ("" if item.name == "index.html" else item.name), _Entry(kind, item.read_bytes())


class _Handler(BaseHTTPRequestHandler):
    """Answer from the tables; quiet, with HTTP/1.1 so that a visitor may keep its connection."""

    protocol_version = "HTTP/1.1"
    server_version = "LanternHouse"
    sys_version = ""
    timeout = 30
    wbufsize = -1  # head and body leave together: the second of two small packets would wait for the first's receipt
    entries: ClassVar[Mapping[str, _Entry]] = {}
    log: ClassVar[list[str] | None] = None

    def do_GET(self) -> None:
        """Answer with the body."""
        self._answer()

    def do_HEAD(self) -> None:
        """Answer without the body."""
        self._answer()

    def do_POST(self) -> None:
        """Take what a form sends, forget it, and show the page."""
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch(r"\d{1,12}", length) or int(length) > _MAX_BODY:
            self.close_connection = True
            self._send(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        self.rfile.read(int(length))
        self._answer()

    def log_message(self, *_: object) -> None:
        """Say nothing: standard error belongs to the crawl."""

    def _answer(self) -> None:
        if self.log is not None:
            self.log.append(self.path)
        path, _, query = self.path.partition("?")
        entry = self.entries.get(ALIASES.get(path, path))
        if path in REDIRECTS:
            self._redirect(*REDIRECTS[path])
        elif path in GONE:
            self._send(HTTPStatus.GONE)
        elif entry is not None and query == QUERIES.get(path, query):
            self._send_entry(entry)
        elif f"{path}/" in self.entries:
            self._redirect(HTTPStatus.MOVED_PERMANENTLY, f"{path}/")
        else:
            self._send(HTTPStatus.NOT_FOUND)

    def _redirect(self, status: HTTPStatus, location: str) -> None:
        self._send(status, {"Location": location})

    def _send_entry(self, entry: _Entry) -> None:
        headers = {"Content-Type": entry.type, "ETag": entry.tag, "Accept-Ranges": "bytes"}
        wanted = _RANGE.fullmatch(self.headers.get("Range", ""))
        if self.headers.get("If-None-Match") == entry.tag:
            self._send(HTTPStatus.NOT_MODIFIED, headers)
        elif wanted and int(wanted[1]) < len(entry.body):  # players of films ask for a part
            first, last = int(wanted[1]), min(int(wanted[2] or len(entry.body)), len(entry.body) - 1)
            headers["Content-Range"] = f"bytes {first}-{last}/{len(entry.body)}"
            self._send(HTTPStatus.PARTIAL_CONTENT, headers, entry.body[first : last + 1])
        else:
            self._send(HTTPStatus.OK, headers, entry.body)

    def _send(self, status: HTTPStatus, headers: Mapping[str, str] | None = None, body: bytes | None = None) -> None:
        """Send one answer; a status without a body of its own gets a line of text."""
        if body is None:
            body = b"" if status == HTTPStatus.NOT_MODIFIED else f"{status} {status.phrase}\n".encode("ascii")
            headers = {"Content-Type": "text/plain; charset=utf-8", **(headers or {})}
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


class _Server(ThreadingHTTPServer):
    """A server that ends with the program and does not ask the network for its own name."""

    daemon_threads = True
    request_queue_size = 64

    def server_bind(self) -> None:
        """Bind as TCPServer does; HTTPServer would look the address up in the DNS, which may take seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]  # an IPv4 address

    def handle_error(self, *_: object) -> None:
        """Say nothing of a visitor that hung up."""


@contextmanager
def serve(address: str = "127.0.0.1", port: int = 0, *, log: list[str] | None = None) -> Iterator[str]:
    """Serve the sample site while the context lasts, and give its base address, which ends in ``/``.

    Port 0 is any free one.  The target of every request is appended to `log`.  OSError where the
    port cannot be had.
    """
    entries = dict(_entries(files("spider.demo") / "site"))
    handler = type("Handler", (_Handler,), {"entries": entries, "log": log})
    with _Server((address, port), handler) as server:
        base = f"http://{address}:{server.server_port}"
        for path in ("/robots.txt", "/sitemap.xml"):
            entry = entries[path]
            entries[path] = _Entry(entry.type, entry.body.replace(OWN_HOST, base.encode("ascii")))
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="demo site", daemon=True)
        thread.start()
        try:
            yield f"{base}/"
        finally:
            server.shutdown()
            thread.join()
