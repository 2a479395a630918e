"""The nouns that cross floors: frozen values and the enumerations that name their kinds.

This room knows no file, no network and no database.  An enumeration's members are words in Python
and in every output, and small integers (`code`) in the database; the codes never change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, Self

from spider.states import Rendering

__all__ = [
    "Accepted",
    "Coded",
    "Confidence",
    "Failed",
    "Fetched",
    "Fetcher",
    "Health",
    "Link",
    "LinkState",
    "Media",
    "MediaKind",
    "Outcome",
    "Page",
    "Purpose",
    "Reason",
    "Rejected",
    "Relation",
    "Request",
    "Response",
    "Scope",
    "SeedOrigin",
    "SeedStatus",
    "Skipped",
    "Source",
    "Verdict",
]


class Coded(StrEnum):
    """An enumeration of words, each with the small integer that stands for it in the database."""

    code: int

    def __new__(cls, word: str, code: int = 0) -> Self:
        """Make the member a str with a `code`."""
        member = str.__new__(cls, word)
        member._value_ = word
        member.code = code
        return member

    @classmethod
    def of(cls, code: int) -> Self:
        """Return the member with this `code`; ValueError if there is none."""
        for member in cls:
            if member.code == code:
                return member
        raise ValueError(f"{cls.__name__} has no code {code}")


class LinkState(Coded):
    """The queue a link stands in (paper 2): waiting, running, complete, error."""

    W = "W", 1
    R = "R", 2
    C = "C", 3
    E = "E", 4


class Relation(Coded):
    """Where a link's target stands as seen from its page (paper 2)."""

    DOWNWARD = "downward", 1
    UPWARD = "upward", 2
    HORIZONTAL = "horizontal", 3
    CROSSWISE = "crosswise", 4
    EXTERNAL = "external", 5


class MediaKind(Coded):
    """The three kinds of media the spider looks for; each has its own table."""

    VIDEO = "video", 1
    AUDIO = "audio", 2
    FLASH = "flash", 3


class Confidence(Coded):
    """How a medium was told, and so how sure it is.

    `rank` orders them in tiers (1 is surest): a report at level ``link`` shows ranks 1 and 2.
    """

    ELEMENT = "element", 1
    LINK = "link", 2
    METADATA = "metadata", 3
    PLAYER = "player", 4
    PRELOAD = "preload", 5
    ATTRIBUTE = "attribute", 6
    SCRIPT = "script", 7
    COMMENT = "comment", 8

    @property
    def rank(self) -> int:
        """The tier of trust: 1 element, 2 link and what is as sure, 3 attribute, 4 script, 5 comment."""
        return {"element": 1, "attribute": 3, "script": 4, "comment": 5}.get(self.value, 2)


class Reason(Coded):
    """Why a link stands in E: the class of what failed.  `heals` says whether trying again may help."""

    DNS = "dns", 1
    CONNECT = "connect", 2
    TLS = "tls", 3
    TIMEOUT = "timeout", 4
    DEADLINE = "deadline", 5
    RATE = "rate", 6  # 429
    SERVER = "server", 7  # 5xx
    CLIENT = "client", 8  # 4xx
    REDIRECT = "redirect", 9  # too many hops, or to nowhere
    PROTOCOL = "protocol", 10  # not HTTP, broken framing
    CONTENT = "content", 11  # broken coding, lying lengths
    ROBOTS = "robots", 12  # robots.txt closes it
    ROBOTS_UNREACHABLE = "robots-unreachable", 13  # robots.txt failed with 5xx or no answer: closed for now
    REFUSED = "refused", 14  # the guard or a setting refuses it
    INTERNAL = "internal", 15  # the spider's own fault; nothing is lost, the report has the trace
    BROWSER = "browser", 16  # the browser died of it, or with it

    @property
    def heals(self) -> bool:
        """Whether the failure may pass by itself, so that the link gets a retry_at."""
        return self.value not in {"client", "redirect", "content", "robots", "refused", "internal"}


class Health(Coded):
    """What a check found of a medium's address; dead is also where a page stands in its place."""

    ALIVE = "alive", 1
    MOVED = "moved", 2
    DEAD = "dead", 3
    CLOSED = "closed", 4
    UNSURE = "unsure", 5


class SeedOrigin(Coded):
    """How a seed came into the list (paper 2's three ways)."""

    HAND = "hand", 1
    SEARCH = "search", 2
    SUBMITTED = "submitted", 3


class SeedStatus(Coded):
    """Whether a seed is crawled."""

    ACTIVE = "active", 1
    CANDIDATE = "candidate", 2
    REJECTED = "rejected", 3
    DISABLED = "disabled", 4


class Scope(StrEnum):
    """Which links are worth visiting: a setting.

    tree: under the seed's directory; kin: paper 2's rule against the page the link is on (same
    directory or below it); host: the seed's host and port; domain: its registrable domain; any.
    """

    TREE = "tree"
    KIN = "kin"
    HOST = "host"
    DOMAIN = "domain"
    ANY = "any"


class Purpose(StrEnum):
    """What the network is asked for; the gate judges by it."""

    PAGE = "page"
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    CHECK = "check"
    ASSET = "asset"
    XHR = "xhr"


@dataclass(frozen=True, slots=True)
class Source:
    """Where in a document something stood: tag and attribute, lower case; ``header@refresh`` is a header."""

    tag: str
    attribute: str

    def __str__(self) -> str:
        """Return ``tag@attribute``."""
        return f"{self.tag}@{self.attribute}"


@dataclass(frozen=True, slots=True)
class Link:
    """One hyperlink of a page, with its anchor text (paper 2), to an http or https address.

    `url` is the address to fetch (WHATWG serialization, no fragment); `h` the signed 64-bit hash of its key, its
    identity within a host.  `text` has white space folded; `modified` (UTC microseconds) is a sitemap's lastmod.
    """

    url: str
    h: int
    source: Source
    relation: Relation
    text: str = ""
    title: str = ""
    rel: tuple[str, ...] = ()
    nofollow: bool = False
    modified: int | None = None


@dataclass(frozen=True, slots=True)
class Media:
    """One medium that a page holds, told once or in several places.

    `h` is the signed 64-bit hash of the key of `url`.  `sources` are all the places, `source` the surest.
    `duration` is in seconds, `format` a container or manifest; `page` holds it, where a sitemap says so.
    """

    url: str
    h: int
    kind: MediaKind
    source: Source
    confidence: Confidence
    text: str = ""
    title: str = ""
    mime: str | None = None
    format: str | None = None
    poster: str | None = None
    duration: float | None = None
    sources: tuple[Source, ...] = ()
    page: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """What reading one document gave.

    `charset` is a WHATWG encoding name in lower case, `charset_from` one of bom, header, meta, xml, utf-8,
    detector, default.  `base` is the URL that relative references were resolved against.  `robots` holds the
    directives of meta robots in lower case.  `notes` names what was cut, with numbers.  `others` are the
    hyperlinks to no http or https address (mailto, what is no URL): their `h` is 0.  `simhash` is the signed
    64-bit fingerprint that nearly the same pages share, where asked for.  `left` counts addresses left out.
    """

    url: str
    charset: str
    charset_from: str
    base: str
    title: str = ""
    language: str | None = None
    canonical: str | None = None
    links: tuple[Link, ...] = ()
    media: tuple[Media, ...] = ()
    feeds: tuple[str, ...] = ()
    robots: frozenset[str] = frozenset()
    scripts: tuple[str, ...] = ()
    inline_scripts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    others: tuple[Link, ...] = ()
    simhash: int | None = None
    left: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """One link to fetch, as the frontier hands it out.

    `depth` counts links from the seed (0), `hops` the redirects that led here, `attempt` the tries
    (1 is the first).  `link_id`, `host_id`, `seed_id` are the rows it stands for; 0 is none.
    `late` says that it was found on a copy of another page; `known` is the content hash of its page when
    last read, None when it never was, 0 when it is to be read anew.  `headers` are sent beside the
    client's own (If-None-Match, Authorization …); `method` is GET, or HEAD, whose answer has no body.
    """

    url: str
    depth: int = 0
    referrer: str | None = None
    attempt: int = 1
    hops: int = 0
    link_id: int = 0
    host_id: int = 0
    seed_id: int = 0
    source: Source = Source("seed", "url")
    text: str = ""
    parent_id: int | None = None
    late: bool = False
    known: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    method: str = "GET"


@dataclass(frozen=True, slots=True)
class Response:
    """What came back, whatever its status; one response, no redirect followed.

    `headers` has lower-case names; repeated headers are joined by ", ".  `body` is decoded content, at most
    the client's max size (`truncated`: it was cut), empty where it was not read.  `location` is the absolute,
    fragment-free target of a redirect.  `elapsed` is seconds to the end of the body, `latency` to the headers.
    """

    request: Request
    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    truncated: bool = False
    location: str | None = None
    elapsed: float = 0.0
    latency: float = 0.0
    size: int = 0

    @property
    def content_type(self) -> str:
        """The media type alone, lower case, without parameters; "" when the server gave none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class Fetcher(Protocol):
    """Whatever turns a request into responses: one from the client, one a state from a browser."""

    def fetch(self, request: Request) -> Iterator[Response]:
        """Yield the responses; raise `errors.FetchError` where none comes."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A verdict: it may be done; for a link, `seed_id` is the seed whose tree it joins."""

    seed_id: int = 0


@dataclass(frozen=True, slots=True)
class Rejected:
    """A verdict: it may not, and the name of the rule that says so."""

    rule: str


Verdict = Accepted | Rejected


@dataclass(frozen=True, slots=True)
class Fetched:
    """An outcome: a response came and was read.

    `page` is None when the document is not one that is parsed.  `links` are those accepted, each with
    the seed whose tree it joins; `refused` those rejected, with the rule.  A link that turned out to
    be a medium itself is `medium`, and belongs to the page that showed it.  `redirect` is where the
    response sends us on, when that is accepted.  `content_hash` is the signed 64-bit BLAKE2b of the body;
    `unchanged` says that it is what was read before (304, or the same hash), so that it was not read
    again; `void` that a guess came to nothing, and nothing is kept of it; `copy`, set when it is recorded,
    that its page is nearly a copy of another.  `rendering` tells of its page as an application.
    """

    request: Request
    response: Response
    page: Page | None = None
    links: tuple[tuple[Link, int], ...] = ()
    refused: tuple[tuple[Link, str], ...] = ()
    medium: Media | None = None
    redirect: Link | None = None
    content_hash: int = 0
    unchanged: bool = False
    void: bool = False
    copy: bool = False
    rendering: Rendering | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """An outcome: no usable response.  `retry_at` (UTC microseconds) is set where it may heal."""

    request: Request
    reason: Reason
    message: str
    status: int | None = None
    retry_at: int | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """An outcome: it was not asked for, and the name of the rule that refused it."""

    request: Request
    rule: str


Outcome = Fetched | Failed | Skipped
