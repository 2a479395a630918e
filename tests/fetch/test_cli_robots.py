"""Laws of ``spider robots``: what it says of an address, and how it ends."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

from tests.server import Reply, WebServer

Web = Callable[..., WebServer]
Spider = Callable[..., subprocess.CompletedProcess[str]]

FILE = """\
User-agent: *
Disallow: /
User-agent: multimedia-spider
Crawl-delay: 2.5
Disallow: /private/   # nothing to see
Allow: /private/*.mp3$
Sitemap: /map.xml
"""


def told(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """Return the output's lines by their first word."""
    assert done.stderr == ""
    pairs = (line.split(maxsplit=1) for line in done.stdout.splitlines())
    return {pair[0]: pair[1] for pair in pairs}


def test_the_verdict_and_the_line_that_decided(web: Web, here: Spider) -> None:
    """The command tells the verdict, the line by number and words, the delay and the sitemaps; and asks no more."""
    server = web({"/robots.txt": Reply(FILE, type="text/plain")})
    lines = told(here("robots", f"{server.url}private/x"))
    assert lines == {
        "robots": f"{server.url}robots.txt: status 200",
        "url": f"{server.url}private/x",
        "verdict": "closed to multimedia-spider",
        "because": "line 5: Disallow: /private/",
        "delay": "2.5 s (Crawl-delay: 2.5)",
        "sitemap": f"{server.url}map.xml",
    }
    assert server.asked() == ["/robots.txt"]


def test_other_verdicts(web: Web, here: Spider) -> None:
    """A line may allow, no line may speak of an address, and another agent be spoken to."""
    server = web({"/robots.txt": FILE})
    lines = told(here("robots", f"{server.url}private/a.mp3", "--agent", "OtherBot"))
    assert (lines["verdict"], lines["because"]) == ("closed to OtherBot", "line 2: Disallow: /")
    lines = told(here("robots", f"{server.url}private/a.mp3"))
    assert (lines["verdict"], lines["because"]) == ("allowed to multimedia-spider", "line 6: Allow: /private/*.mp3$")
    assert told(here("robots", server.url))["because"] == "no line speaks of it"


def test_no_file_and_no_answer(web: Web, here: Spider) -> None:
    """Without a file all is allowed; without an answer all is closed, and the exit code is 3."""
    server = web({})
    done = here("robots", server.url)
    lines = told(done)
    assert (done.returncode, lines["verdict"]) == (0, "allowed to multimedia-spider")
    assert lines["because"] == "there is no robots.txt: all is allowed"
    broken = web({"/robots.txt": Reply(status=503, headers=(("Retry-After", "90"),))})
    done = here("robots", broken.url)
    lines = told(done)
    assert (done.returncode, lines["verdict"], lines["retry"]) == (3, "closed to multimedia-spider", "after 90 s")
    done = here("robots", "http://nowhere.invalid/")
    assert (done.returncode, told(done)["verdict"]) == (3, "closed to multimedia-spider")


def test_what_the_file_says_steers_nothing(web: Web, here: Spider) -> None:
    """Control characters of a robots.txt are shown as escapes."""
    server = web({"/robots.txt": "User-agent: *\nDisallow: /\x1b[31mred\u202e\n"})
    done = here("robots", f"{server.url}%1B[31mred%E2%80%AE")
    assert told(done)["because"] == r"line 2: Disallow: /\x1b[31mred\u202e"


def test_no_address(here: Spider) -> None:
    """What is no address, or not one of the web, is said in one line with a code."""
    done = here("robots", "http://")
    assert (done.returncode, done.stdout) == (2, "")
    done = here("robots", "ftp://example.com/")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


def test_who_asks(web: Web, here: Spider) -> None:
    """The contact and the headers given go along."""
    server = web({"/robots.txt": FILE})
    here("robots", server.url, "--contact", "me@example.org", "--header", "X-Key: a: b")
    headers = server.requests[0].headers
    assert headers["user-agent"].endswith("(+me@example.org)")
    assert headers["x-key"] == "a: b"


def test_an_address_may_lack_its_scheme(here: Spider) -> None:
    """Without a scheme it is https; another scheme is refused."""
    assert "url      https://127.0.0.1:9/x" in here("robots", "127.0.0.1:9/x").stdout
    for other in ("ftp://a.example/", "mailto:x@127.0.0.1"):
        done = here("robots", other)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert "not an address of the web" in done.stderr
