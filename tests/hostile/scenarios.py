"""The scenarios that a hostile server plays, one or more for each row that is about answers."""

from __future__ import annotations

import gzip
from collections.abc import Callable

from tests.hostile.answers import CHUNKED, OK, bomb, drip, flood, moved, page, raw, silence
from tests.hostile.checks import (
    all_refused,
    few_cookies,
    in_chain,
    is_cut,
    links_of,
    logged_in,
    no_files,
    no_secret,
    nothing_imported,
    shows_nothing,
    unasked,
    was,
)
from tests.hostile.greedy import GREEDY
from tests.hostile.stage import EVIL, OTHER, Answer, Scenario, port_of
from tests.server import Asked, Reply

__all__ = ["LONG", "SCENARIOS"]

LOGIN = {"auth": [f"{EVIL}=user:secret"]}


def to(host: str, path: str, *headers: tuple[str, str]) -> Callable[[Asked], Answer]:
    """Redirect to another host of the stage."""
    return lambda asked: moved(f"http://{host}:{port_of(asked)}{path}", *headers)


def names(count: int) -> str:
    """Write so many attributes, no two alike."""
    return " ".join(f"a{n}=1" for n in range(count))


MOVED = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n"
LONG = {"deadline": 10.0, "depth": 1}  # what is parsed for long: its time is the processor's
SMALL = {"max_size": 2_000_000, "deadline": 4.0}
CAP = Reply(headers=tuple(("Set-Cookie", f"c{n}={'x' * 4000}; Path=/") for n in range(90)))
XXE = '<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset><url><loc>http://{}/&x;</loc></url></urlset>'
LAUGHS = (
    "<!DOCTYPE rss [<!ENTITY a0 'ha'>"
    + "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 12))
    + "]><rss><channel><item><link>&a11;</link></item></channel></rss>"
)

CREDENTIALS = (
    Scenario(1, "a redirect to another host", to(OTHER, "/echo"), plan={**LOGIN, "scope": "any"},
             others={f"{OTHER}/echo": page()}, check=logged_in),
    Scenario(4, "a cookie for all of test", lambda asked: moved(f"http://a.test:{port_of(asked)}/set"),
             plan={"scope": "any"}, names={"a.test": [EVIL], "b.test": [OTHER]}, check=shows_nothing(OTHER, "/echo"),
             others={f"{OTHER}/echo": page(), f"{EVIL}/set": lambda asked: moved(
                 f"http://b.test:{port_of(asked)}/echo", ("Set-Cookie", "k=v; Domain=test"))}),
    Scenario(5, "a cookie, and a redirect to another host", to(OTHER, "/echo", ("Set-Cookie", "k=v")),
             plan={"scope": "any"}, others={f"{OTHER}/echo": page()}, check=shows_nothing(OTHER, "/echo")),
)  # fmt: skip

SCHEMES = tuple(
    Scenario(8, f"a redirect to {location.partition(':')[0]}:", moved(location), "redirect")
    for location in ("file:///etc/passwd", "data:text/html,<p>x", "ftp://127.0.0.4/", "gopher://127.0.0.4:70/x",
                     "javascript:alert(1)", "dict://127.0.0.4:2628/", "about:blank")
)  # fmt: skip

BODIES = (
    Scenario(10, "a bomb of gzip", bomb(100, "gzip"), plan=SMALL, check=is_cut),
    Scenario(10, "a bomb of deflate", bomb(100, "deflate"), plan=SMALL, check=is_cut),
    Scenario(10, "br, which nobody asked for", Reply(b"x", headers=(("Content-Encoding", "br"),)), "content"),
    Scenario(10, "zstd, which nobody asked for", Reply(b"x", headers=(("Content-Encoding", "zstd"),)), "content"),
    Scenario(11, "gzip in gzip", bomb(100, "gzip, gzip"), plan=SMALL, check=is_cut),
    Scenario(11, "fifty codings", Reply(gzip.compress(b"x"), headers=(("Content-Encoding", ", ".join(["gzip"] * 50)),)),
             "content"),
    Scenario(12, "a bomb in a redirect", moved("/after", ("Content-Encoding", "gzip"), body=bomb(100, "gzip").bytes())),
    Scenario(12, "a redirect with a body that drips", drip(
        b"HTTP/1.1 302 Found\r\nLocation: /after\r\nContent-Length: 3000\r\n\r\n", b"x")),
    Scenario(13, "a body without end", flood(OK + b"\r\n", b"x" * 65536), plan=SMALL, check=is_cut),
    Scenario(13, "chunks without end", flood(CHUNKED, b"10000\r\n" + b"x" * 65536 + b"\r\n"), plan=SMALL, check=is_cut),
    Scenario(14, "a drip of the body", drip(OK + b"Content-Length: 1000\r\n\r\n", b"x"), "deadline"),
    Scenario(14, "a drip of chunks", drip(CHUNKED, b"1\r\nx\r\n"), "deadline"),
    Scenario(14, "gzip that decodes to nothing", drip(
        OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"")[:10], b"\0\0\0\xff\xff", 0.02), "deadline"),
    Scenario(14, "a body that stops", silence(OK + b"Content-Length: 9\r\n\r\nx"), "timeout"),
)  # fmt: skip

HEADS = (
    Scenario(15, "a drip of headers", drip(OK, b"X-More: y\r\n"), "deadline"),
    Scenario(15, "a drip before the status", drip(b"", b"H"), "deadline"),
    Scenario(15, "a drip of trailers", drip(CHUNKED + b"0\r\n", b"X: y\r\n"), "deadline"),
    Scenario(15, "silence", silence(), "timeout"),
    Scenario(16, "a thousand headers", raw(OK + b"X: y\r\n" * 1000 + b"\r\n"), "protocol"),
    Scenario(16, "a header of 200 kB", raw(OK + b"X: " + b"y" * 200_000 + b"\r\n\r\n"), "protocol"),
    Scenario(16, "a header without end", flood(OK + b"X: ", b"y" * 65536), "protocol"),
    Scenario(16, "a status line without end", flood(b"", b"y" * 65536), "protocol"),
    Scenario(17, "ninety cookies of 4 kB", CAP, check=few_cookies),
    Scenario(17, "a cookie full of escapes", Reply(headers=(("Set-Cookie", 'c="' + "\\" * 60_000 + '"'),))),
    Scenario(18, "a short body", raw(OK + b"Content-Length: 10\r\n\r\nshort"), "content"),
    Scenario(18, "a length that is no number", raw(OK + b"Content-Length: abc\r\n\r\n<p>")),
    Scenario(18, "a negative length", raw(OK + b"Content-Length: -5\r\n\r\n<p>")),
    Scenario(18, "two lengths", raw(OK + b"Content-Length: 5\r\nContent-Length: 7\r\n\r\nhello"), "content"),
    Scenario(18, "a length of 10^25", raw(OK + b"Content-Length: 9" + b"9" * 25 + b"\r\n\r\nx"), "content"),
    Scenario(18, "a length of 10^18", raw(OK + b"Content-Length: 999999999999999999\r\n\r\nx"), "content"),
    Scenario(19, "a chunk's length that is no number", raw(CHUNKED + b"xyz\r\nhello\r\n"), "protocol"),
    Scenario(19, "a chunk's length without end", flood(CHUNKED, b"5" * 65536), "protocol"),
    Scenario(19, "a negative chunk", raw(CHUNKED + b"-5\r\nhello\r\n0\r\n\r\n"), "protocol"),
    Scenario(19, "chunks that break off", raw(CHUNKED + b"5\r\nhel"), "protocol"),
    Scenario(20, "a redirect to itself", moved("/evil"), "redirect"),
    Scenario(20, "redirects without end", moved("/evil1"), others={
        f"{EVIL}/evil{n}": moved(f"/evil{n + 1}") for n in range(1, 20)}, check=in_chain),
    Scenario(20, "a broken Location", moved("http://[::1"), "redirect"),
    Scenario(20, "a Location that is not UTF-8", raw(MOVED + b"Location: /\xff\xfe\r\n\r\n")),
    Scenario(20, "an empty Location", moved(""), "redirect"),
    Scenario(21, "two thousand 100s", raw(b"HTTP/1.1 100 Go\r\n\r\n" * 2000 + OK + b"Content-Length: 0\r\n\r\n")),
    Scenario(21, "100s without end", drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.02), "deadline"),
    Scenario(21, "103s without end", flood(b"", b"HTTP/1.1 103 Early\r\n\r\n" * 1000), "protocol"),
    Scenario(21, "status 999", Reply(status=999), "server"),
    Scenario(21, "status 1000", raw(b"HTTP/1.1 1000 OK\r\n\r\n"), "protocol"),
    Scenario(21, "no status line", raw(b"hello\r\n\r\n"), "protocol"),
    Scenario(21, "another protocol", raw(b"SSH-2.0-OpenSSH_9.2\r\n"), "protocol"),
    Scenario(21, "a reset", raw(b"", reset=True), "connect"),
    Scenario(21, "a reset in the body", raw(OK + b"Content-Length: 10\r\n\r\nshort", reset=True), "connect"),
    Scenario(21, "nothing", raw(b""), "connect"),
    Scenario(22, "a header with the name of code", Reply(headers=(
        ("Referrer-Policy", "tests.hostile.answers"), ("Content-Encoding", "identity"),
        ("Content-Type", "text/html; charset=tests.hostile.answers"))), check=nothing_imported),
)  # fmt: skip


PAGES = (
    Scenario(26, "a tag with 200,000 attributes", f"<a href=/x {names(200_000)}>x</a>", plan=LONG,
             check=links_of(1, 1)),
    Scenario(27, "300,000 elements in each other", "<div>" * 300_000 + "<a href=/x>x</a>", plan=LONG,
             check=links_of(1, 1)),
    Scenario(28, "10 MB of links", "<a href=x>y</a>" * 670_000, plan=LONG,
             check=links_of(20_000, 20_000)),
    Scenario(28, "10 MB of tags", "<a b=c d=e>" * 900_000, plan=LONG),
    Scenario(28, "10 MB of links, each to elsewhere", GREEDY["links"](), plan=LONG, check=links_of(20_000, 20_000)),
    Scenario(28, "10 MB of films", GREEDY["films"](), plan=LONG),
    Scenario(29, "an empty page", Reply()),
    Scenario(29, "a comment alone", "<!-- x"),
    Scenario(29, "an XML declaration", '<?xml version="1.0" encoding="utf-8"?><p>x'),
    Scenario(29, "a broken address among good ones", page("http://[::1", "/x", "http://a b/", "//"),
             plan=LONG, check=links_of(1, 3)),
    Scenario(29, "bytes of no charset", bytes(range(256)) * 100),
    Scenario(30, "(a+)+$ and a long address", page(f"/{'a' * 5000}!"), plan={"exclude": ["(a+)+$"], "depth": 2},
             others={f"{EVIL}/{'a' * 5000}!": page()}),
    Scenario(31, "a robots.txt without end", plan=SMALL, others={
        f"{EVIL}/robots.txt": flood(OK + b"\r\n", b"Disallow: /x\n" * 5000)}),
    Scenario(31, "wildcards in robots.txt", others={f"{EVIL}/robots.txt": Reply(
        "User-agent: *\n" + f"Disallow: /{'a*' * 200}b$\n" * 400)}, link=f"/{'a' * 1500}",
        check=was(f"{EVIL}/{'a' * 1500}", "client")),
    Scenario(32, "a robots.txt of 503", others={f"{EVIL}/robots.txt": Reply(status=503)}, after=False,
             check=was(f"{EVIL}/", "robots-unreachable")),
    Scenario(32, "a robots.txt that drips", others={f"{EVIL}/robots.txt": drip(OK, b"X: y\r\n")}, after=False,
             check=was(f"{EVIL}/", "deadline")),
    Scenario(24, "an external entity in a sitemap", plan={"sitemaps": True}, others={
        f"{EVIL}/robots.txt": lambda asked: Reply(f"Sitemap: http://{EVIL}:{port_of(asked)}/map.xml"),
        f"{EVIL}/map.xml": lambda asked: Reply(XXE.format(asked.headers["host"]), type="application/xml")},
        check=no_secret),
    Scenario(25, "a billion laughs in a feed", LAUGHS),
    Scenario(38, "addresses that are no names of files", page("/../../x", f"/{'d/' * 2500}", "/CON", "/a%00b", "/.."),
             plan={"depth": 2}, check=no_files),
    Scenario(39, "user information in a link", link="http://user:secret@{other}/", plan={"scope": "any"},
             check=unasked(OTHER, "/")),
    Scenario(39, "another host behind a backslash", link="http://127.0.0.2\\@{other}/evil", plan={"scope": "any"},
             check=unasked(OTHER, "/evil")),
    Scenario(51, "a name that is not there", link="http://a.nowhere.test/", names={"a.nowhere.test": ["nxdomain"]},
             plan={"scope": "any"}, check=was("a.nowhere.test/", "dns")),
    Scenario(51, "a name server that fails", link="http://b.nowhere.test/", names={"b.nowhere.test": ["servfail"]},
             plan={"scope": "any"}, check=was("b.nowhere.test/", "dns")),
    Scenario(51, "a name server that is slow", link="http://c.nowhere.test/", names={"c.nowhere.test": ["slow"]},
             plan={"scope": "any"}, check=was("c.nowhere.test/", "dns")),
)  # fmt: skip


NETWORKS = (
    Scenario(9, "a name that leads inside", link="http://inside.test:{port}/", names={"inside.test": [OTHER]},
             plan={"scope": "any", "allow_private": False}, check=unasked(OTHER, "/")),
    Scenario(9, "numbers that are 127.0.0.4", page("http://0x7f000004:1/", "http://2130706436:1/", "http://017700000004:1/",
             "http://127.4:1/", "http://[::ffff:127.0.0.4]:1/", "http://[64:ff9b::7f00:4]:2/"),
             plan={"scope": "any", "allow_private": False}, check=all_refused),
    Scenario(9, "a link to a private machine", link="http://{other}/", plan={"scope": "any", "allow_private": False},
             check=unasked(OTHER, "/")),
    Scenario(9, "a redirect to a private machine", to(OTHER, "/"), plan={"scope": "any", "allow_private": False},
             check=unasked(OTHER, "/")),
    Scenario(9, "a redirect to the machine's own metadata", moved("http://169.254.169.254/latest/meta-data/"),
             plan={"scope": "any", "allow_private": False},
             check=was("169.254.169.254/latest/meta-data/", "refused")),
)  # fmt: skip

SCENARIOS: tuple[Scenario, ...] = (*CREDENTIALS, *SCHEMES, *NETWORKS, *BODIES, *HEADS, *PAGES)

assert len({scenario.id for scenario in SCENARIOS}) == len(SCENARIOS)
