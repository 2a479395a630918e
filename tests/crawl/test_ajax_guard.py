"""Laws of a hostile page in the browser: of the networks around the machine it reaches nothing, by whatever way."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from spider.ajax import require
from spider.crawl import Crawler
from spider.errors import BrowserError
from spider.model import Outcome
from tests.fetch.proxy import StubProxy
from tests.replies import Asked, Reply
from tests.server import WebServer

Web = Callable[..., WebServer]
Crawl = Callable[..., tuple[Crawler, list[Outcome]]]

try:
    require()
except BrowserError as error:
    pytest.skip(f"no browser: {error}", allow_module_level=True)


@pytest.fixture
def proxy() -> Iterator[Callable[..., StubProxy]]:
    """Give a function that starts a proxy; all are closed at the end."""
    proxies: list[StubProxy] = []

    def start() -> StubProxy:
        proxies.append(StubProxy())
        return proxies[-1]

    yield start
    for one in proxies:
        one.close()


HOSTILE = """<!doctype html><title>hostile</title>
<link rel="dns-prefetch" href="//{inside}/"><link rel="preconnect" href="http://{inside}/">
<link rel="prefetch" href="http://{inside}/prefetch"><link rel="stylesheet" href="http://{inside}/style.css">
<script src="http://{inside}/script.js"></script><script src="/to-script"></script>
<script src="http://rebind.example:{port}/script.js"></script>
<script src="http://[::1]:{port}/script.js"></script><script src="http://localhost:{port}/script.js"></script>
<iframe src="http://{inside}/frame"></iframe><iframe src="/to-frame"></iframe>
<img src="http://{inside}/image.png"><object data="http://{inside}/object"></object>
<video src="http://{inside}/film.mp4" preload="auto"></video>
<script>
const ways = {{
  fetch: () => fetch("http://{inside}/fetch", {{mode: "no-cors"}}),
  redirected: () => fetch("/to-fetch", {{mode: "no-cors"}}),
  rebound: () => fetch("http://rebind.example:{port}/fetch", {{mode: "no-cors"}}),
  xhr: () => {{ const x = new XMLHttpRequest(); x.open("GET", "http://{inside}/xhr"); x.send(); }},
  beacon: () => navigator.sendBeacon("http://{inside}/beacon", "x"),
  stream: () => new EventSource("http://{inside}/stream"),
  socket: () => new WebSocket("ws://{inside}/socket"),
  socket6: () => new WebSocket("ws://[::1]:{port}/socket"),
  reboundSocket: () => new WebSocket("ws://rebind.example:{port}/socket"),
  worker: () => new Worker(URL.createObjectURL(new Blob(['fetch("http://{inside}/worker", {{mode: "no-cors"}});'
    + 'new WebSocket("ws://{inside}/workersocket"); importScripts("http://{inside}/imported.js")']))),
  shared: () => new SharedWorker(URL.createObjectURL(new Blob(['fetch("http://{inside}/shared")']))),
  service: () => navigator.serviceWorker.register("/service.js"),
  transport: () => new WebTransport("https://{inside}/transport"),
  form: () => {{ const f = document.createElement("form"); f.action = "http://{inside}/form"; f.target = "_blank";
    document.body.append(f); f.submit(); }},
  popup: () => open("http://{inside}/popup"),
  rtc: () => {{
    const peer = new RTCPeerConnection({{iceServers: [{{urls: "stun:127.0.0.2:{udp}"}},
      {{urls: "turn:127.0.0.2:{port}?transport=tcp", username: "a", credential: "b"}}]}});
    peer.createDataChannel("x");
    return peer.createOffer().then(offer => peer.setLocalDescription(offer));
  }},
  leave: () => {{ location.href = "http://{inside}/leave"; }},
}};
for (const [name, way] of Object.entries(ways)) {{
  const one = document.createElement("button");
  one.id = name;
  one.onclick = () => {{
    try {{ const did = way(); if (did && did.catch) did.catch(() => 0); }} catch (e) {{ }}
    fetch("/tried/" + name);
  }};
  document.body.append(one);
  one.click();
}}
</script>"""


@pytest.fixture
def udp() -> Iterator[tuple[int, Callable[[], list[bytes]]]]:
    """Listen for datagrams at 127.0.0.2: the port, and a function that returns what came."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.2", 0))
        sock.settimeout(0)

        def came() -> list[bytes]:
            got = []
            with contextlib.suppress(BlockingIOError):
                while True:
                    got.append(sock.recv(2048))
            return got

        yield sock.getsockname()[1], came


def test_a_hostile_page_reaches_nothing_inside(
    web: Web, crawl: Crawl, udp: tuple[int, Callable[[], list[bytes]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scripts, frames, sockets, streams, workers, redirects, names that are led elsewhere, UDP: nobody is connected.

    The scope is any, so that nothing but the guard stands in the way; the page's own host is one that was typed.
    """
    server: WebServer

    def answer(asked: Asked) -> Reply | None:
        inside = f"http://127.0.0.2:{server.port}"
        if asked.path == "/":
            return Reply(HOSTILE.format(inside=inside.removeprefix("http://"), port=server.port, udp=udp[0]))
        if asked.path.startswith("/to-"):
            return Reply(status=302, headers=(("Location", f"{inside}{asked.path}"),))
        return Reply("", type="text/javascript") if asked.path.startswith("/tried/") else None

    server = web(answer, hosts=2)
    real = socket.getaddrinfo

    def look_up(host: bytes | str, *rest: Any, **names: Any) -> Any:  # noqa: ANN401  # getaddrinfo's own
        name = host.decode() if isinstance(host, bytes) else host
        return real("127.0.0.2" if name == "rebind.example" and not names.get("flags") else host, *rest, **names)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    crawl(server.url, ajax="always", allow_private=False, scope="any", depth=0, ajax_depth=0)
    assert [connection.host for connection in server.connections if connection.host != "127.0.0.1"] == []
    assert udp[1]() == []
    tried = {path.removeprefix("/tried/") for path in server.asked() if path.startswith("/tried/")}
    assert {"fetch", "socket", "worker", "rtc", "shared", "transport", "leave"} <= tried


SCRIPTED = """<title>x</title><script src="http://{other}/react.production.min.js"></script>
<script>fetch("/api").then(() => fetch("http://{other}/api"))</script>"""


def test_the_commands_have_the_guard_too(web: Web, spider: Callable[..., Any]) -> None:
    """`spider ajax` and `spider fingerprint` ask the host that was typed, and no other private one unless allowed."""
    server: WebServer

    def answer(asked: Asked) -> Reply | None:
        if asked.path == "/":
            return Reply(SCRIPTED.format(other=f"127.0.0.2:{server.port}"))
        return None if asked.path == "/robots.txt" else Reply("[]", type="text/javascript")

    server = web(answer, hosts=2)
    for command in ("ajax", "fingerprint"):
        done = spider(command, server.url, "--format", "json")
        assert (done.returncode, done.stderr) == (0, "")
        if command == "ajax":
            found = json.loads(done.stdout)
    resources = {one["url"]: one["refused"] for one in found["resources"]}
    assert resources == {f"{server.urls[0]}api": None, f"{server.urls[1]}api": "private-address"}
    assert {asked.host for asked in server.requests} == {"127.0.0.1"}
    assert spider("ajax", server.url, "--allow-private", "--scope", "any").returncode == 0
    assert ("127.0.0.2", "/api") in {(asked.host, asked.path) for asked in server.requests}


def test_the_user_s_proxy_is_gone_by(web: Web, spider: Callable[..., Any], proxy: Callable[..., StubProxy]) -> None:
    """With `--proxy` the browser's requests go there as well, by way of ours."""
    server = web(
        lambda _: Reply("<html><script>fetch('/api')</script></html>"), skip={"overlap": "the stub's connections"}
    )
    stub = proxy()
    assert spider("ajax", server.url, "--proxy", stub.url).returncode == 0
    assert f"GET {server.url}api HTTP/1.1" in {head.partition("\r\n")[0] for head in stub.heads}
    assert len(stub.heads) == len(server.requests)
