"""The tables: paper 2's SeedLink, CrawlerLink, Video, Audio and Flash, and the few beside them.

Every column says what it holds in its `doc`, from which ``docs/data.md`` is made.  Times are UTC in
microseconds since 1970; enumerations are the small integers of `spider.model`; identifiers and hashes
are signed 64-bit.  This file describes; it moves nothing (`frontier`) and writes nothing (`catalog`).
"""

from __future__ import annotations

from typing import ClassVar

import sqlalchemy as sa

from spider.model import Confidence, Health, LinkState, Reason, Relation, SeedOrigin, SeedStatus
from spider.store.columns import Base, BigInt, Code, Field, column, number, partial, state_is, table, time
from spider.store.graph_schema import Resource, State, Transition

__all__ = [
    "HEAD",
    "MEDIA",
    "Audio",
    "Base",
    "Count",
    "CrawlerLink",
    "Edge",
    "Flash",
    "Forgotten",
    "Host",
    "Likeness",
    "MediaCheck",
    "Meta",
    "Nearer",
    "Origin",
    "OutLink",
    "Page",
    "Quota",
    "Resource",
    "Run",
    "SeedLink",
    "Skipped",
    "State",
    "Transition",
    "Video",
    "Worker",
    "state_is",
    "table",
]

HEAD = "0001"
"""The revision of `alembic/versions` that these models describe."""


class SeedLink(Base):
    """A seed: a site to crawl, how it came into the list and whether it is crawled."""

    id: Field[int] = number()
    url: Field[str] = column(sa.Text, doc="The address as given, normalized.")
    key: Field[str] = column(sa.Text, unique=True, doc="Its identity (`spider url --key`).")
    origin: Field[SeedOrigin] = column(Code(SeedOrigin), doc="How it came: hand, search, submitted.")
    status: Field[SeedStatus] = column(Code(SeedStatus), doc="active, candidate, rejected, disabled.")
    note: Field[str | None] = column(sa.Text, doc="What the person who gave it said.")
    added_at: Field[int] = time("When it came")
    decided_at: Field[int | None] = time("When a candidate was confirmed or rejected")
    landed_url: Field[str | None] = column(sa.Text, doc="Where its redirects ended; the scope is reckoned from there.")
    options: Field[str | None] = column(sa.Text, doc="Its own settings (JSON object), such as depth and scope.")


class Host(Base):
    """A host name: the unit of lease and pace.  One worker at a time holds it."""

    id: Field[int] = number()
    name: Field[str] = column(sa.Text, unique=True, doc="The host name as URLs write it (punycode).")
    next_at: Field[int] = time("Not to be asked before")
    waiting: Field[int] = column(BigInt, doc="How many of its links are in W.")
    lease_worker: Field[int | None] = column(BigInt, doc="The worker that holds it.")
    lease_until: Field[int | None] = time("When the lease ends unless renewed")
    delay: Field[int] = column(BigInt, doc="The wait between two requests as last reckoned, in microseconds.")
    latency: Field[int] = column(BigInt, doc="Its usual time to answer, in microseconds.")
    failures: Field[int] = column(sa.Integer, doc="Failures in a row.")

    __table_args__ = (
        partial("ix_Host_due", "next_at", where=sa.text("waiting > 0")),
        partial("ix_Host_leased", "lease_worker", where=sa.text("lease_worker IS NOT NULL")),
    )


class Origin(Base):
    """Scheme, host and port: what robots.txt, cookies and credentials belong to."""

    id: Field[int] = number()
    host_id: Field[int] = column(BigInt, refers="Host.id", doc="Its host.")
    scheme: Field[str] = column(sa.Text, doc="http or https.")
    port: Field[int] = column(sa.Integer, doc="The port, the scheme's default written out.")
    robots_body: Field[bytes | None] = column(sa.LargeBinary, doc="robots.txt as it came, to its size limit.")
    robots_status: Field[int] = column(sa.Integer, doc="Its HTTP status; 0 when no answer came.")
    robots_at: Field[int] = time("When it was asked for")
    crawl_delay: Field[int | None] = column(BigInt, doc="Its Crawl-delay for us, in microseconds.")

    __table_args__ = (sa.UniqueConstraint("host_id", "scheme", "port"),)


class CrawlerLink(Base):
    """A link of the forest (paper 2): in exactly one of W, R, C, E at any time."""

    id: Field[int] = number()
    host_id: Field[int] = column(BigInt, refers="Host.id", doc="Its host.")
    h: Field[int] = column(
        BigInt, doc="Signed 64-bit BLAKE2b of its key; another key with the same hash is hashed again."
    )
    url: Field[str] = column(sa.Text, doc="The address to fetch, as found, normalized.")
    state: Field[LinkState] = column(Code(LinkState), doc="W waiting, R running, C complete, E error.")
    depth: Field[int] = column(sa.Integer, doc="Links from the seed (0).")
    seed_id: Field[int] = column(BigInt, refers="SeedLink.id", doc="The seed whose tree it is in.")
    parent_id: Field[int | None] = column(BigInt, doc="The link of the page that showed it first.")
    text: Field[str | None] = column(sa.Text, doc="Its anchor text there.")
    source: Field[str] = column(sa.Text, doc="Where it stood there: tag@attribute.")
    relation: Field[Relation] = column(
        Code(Relation), doc="downward, upward, horizontal, crosswise, external: the target as seen from that page."
    )
    hops: Field[int] = column(sa.SmallInteger, doc="Redirects followed to reach it.")
    late: Field[bool] = column(
        sa.Boolean, doc="Found on a copy of another page: it waits behind all that was found elsewhere."
    )
    attempt: Field[int] = column(sa.SmallInteger, doc="How often it was tried.")
    worker_id: Field[int | None] = column(BigInt, doc="In R: the worker that has it.")
    reason: Field[Reason | None] = column(Code(Reason), doc="In E: the class of what failed.")
    message: Field[str | None] = column(sa.Text, doc="In E: what failed, in words.")
    retry_at: Field[int | None] = time("In E: when it is due again")

    __table_args__ = (
        sa.UniqueConstraint("host_id", "h"),
        partial("ix_CrawlerLink_waiting", "host_id", "late", "depth", "id", where=state_is(LinkState.W)),
        partial("ix_CrawlerLink_running", "worker_id", where=state_is(LinkState.R)),
        partial("ix_CrawlerLink_error", "retry_at", where=state_is(LinkState.E)),
    )


class Quota(Base):
    """How many pages of a host a run has read, where that is limited."""

    run_id: Field[int] = column(BigInt, primary_key=True, autoincrement=False, doc="The run.")
    host_id: Field[int] = column(BigInt, primary_key=True, autoincrement=False, doc="The host.")
    pages: Field[int] = column(BigInt, doc="Pages of it that were read.")


class Nearer(Base):
    """A complete page met nearer while nothing of its tree had been cut: read again once something is."""

    link_id: Field[int] = column(BigInt, primary_key=True, autoincrement=False, doc="The link of the page.")
    seed_id: Field[int] = column(BigInt, index=True, doc="The seed whose tree it is in.")


class Page(Base):
    """What came back for a link: one row per fetched link."""

    link_id: Field[int] = column(
        BigInt, refers="CrawlerLink.id", primary_key=True, autoincrement=False, doc="The link that was fetched."
    )
    status: Field[int] = column(sa.SmallInteger, doc="HTTP status.")
    content_type: Field[str] = column(sa.Text, doc="Media type without parameters.")
    charset: Field[str | None] = column(sa.Text, doc="The encoding it was decoded with (WHATWG name).")
    title: Field[str | None] = column(sa.Text, doc="The document's title.")
    etag: Field[str | None] = column(sa.Text, doc="ETag, as sent.")
    last_modified: Field[str | None] = column(sa.Text, doc="Last-Modified, as sent.")
    content_hash: Field[int] = column(BigInt, doc="Signed 64-bit BLAKE2b of the body; 0: to be read anew.")
    simhash: Field[int | None] = column(BigInt, doc="Signed 64-bit fingerprint of its text and links.")
    size: Field[int] = column(BigInt, doc="Bytes of the decoded body.")
    fetched_at: Field[int] = time("When it was last fetched")
    changed_at: Field[int] = time("When its content was last seen to differ")
    due_at: Field[int | None] = time("When it is due to be fetched again")
    canonical: Field[str | None] = column(sa.Text, doc="What the page names as its canonical address.")
    redirect_to: Field[str | None] = column(sa.Text, doc="The target, when it was a redirect.")
    copy_of: Field[int | None] = column(BigInt, doc="The link whose page had the same content first.")
    application: Field[str | None] = column(
        sa.Text, doc="The libraries that make it look like an Ajax application; plain where it asks by itself."
    )
    ajax: Field[int] = column(sa.SmallInteger, default=0, doc="`--ajax` when it was read: 0 never, 1 auto, 2 always.")

    __table_args__ = (partial("ix_Page_content", "content_hash", where=sa.text("content_hash <> 0")),)


class Likeness(Base):
    """A part of the fingerprint of a page that is no copy, by which pages nearly like it are found."""

    band: Field[int] = column(
        BigInt, primary_key=True, autoincrement=False, doc="Which part (0 to 3) and its 16 bits, as one number."
    )
    link_id: Field[int] = column(BigInt, primary_key=True, autoincrement=False, index=True, doc="The link of the page.")
    simhash: Field[int] = column(BigInt, doc="The whole fingerprint.")


class MediaColumns:
    """A medium on a page; Video, Audio and Flash are alike in structure (paper 2)."""

    id: Field[int] = number()
    page_id: Field[int] = column(BigInt, refers="CrawlerLink.id", doc="The link of the page that holds it.")
    url_hash: Field[int] = column(BigInt, doc="Signed 64-bit BLAKE2b of the key of its address.")
    url: Field[str] = column(sa.Text, doc="Its address.")
    text: Field[str | None] = column(sa.Text, doc="Anchor text, or the text given in its place.")
    title: Field[str | None] = column(sa.Text, doc="Its own title, where the page gives one.")
    source: Field[str] = column(sa.Text, doc="Where on the page it was told: tag@attribute.")
    confidence: Field[Confidence] = column(
        Code(Confidence), doc="How it was told: element, link, metadata, player, preload, attribute, script, comment."
    )
    mime: Field[str | None] = column(sa.Text, doc="Media type, where declared or served.")
    format: Field[str | None] = column(sa.Text, doc="Container or manifest: mp4, mp3, swf, hls, dash …")
    poster: Field[str | None] = column(sa.Text, doc="Address of its picture.")
    duration: Field[float | None] = column(sa.Float, doc="Seconds, where the page says so.")
    state_id: Field[int | None] = column(BigInt, doc="The Ajax state it needs, where it needs one.")
    first_seen: Field[int] = time("When it was first seen on this page")
    last_seen: Field[int] = time("When it was last seen on this page")
    gone_at: Field[int | None] = time("When the page was seen without it")


class Video(MediaColumns, Base):
    """A video on a page."""

    __table_args__ = (sa.UniqueConstraint("page_id", "url_hash"),)


class Audio(MediaColumns, Base):
    """A sound on a page."""

    __table_args__ = (sa.UniqueConstraint("page_id", "url_hash"),)


class Flash(MediaColumns, Base):
    """A Flash movie on a page."""

    __table_args__ = (sa.UniqueConstraint("page_id", "url_hash"),)


MEDIA: dict[str, type[Video | Audio | Flash]] = {"video": Video, "audio": Audio, "flash": Flash}
"""The table of each `MediaKind`."""


class MediaCheck(Base):
    """A medium's own health, once per address."""

    url_hash: Field[int] = column(BigInt, primary_key=True, autoincrement=False, doc="As in Video, Audio, Flash.")
    url: Field[str] = column(sa.Text, doc="The address asked.")
    health: Field[Health] = column(Code(Health), doc="What was found: alive, moved, dead, closed, unsure.")
    status: Field[int] = column(sa.SmallInteger, doc="HTTP status; 0 when no answer came.")
    reason: Field[Reason | None] = column(Code(Reason), doc="Why no answer came, or none that counts.")
    mime: Field[str | None] = column(sa.Text, doc="Its type by signature or header.")
    size: Field[int | None] = column(BigInt, doc="Bytes.")
    moved_to: Field[str | None] = column(sa.Text, doc="Where it has moved for good.")
    checked_at: Field[int] = time("When it was checked")


class OutLink(Base):
    """A link to another site that the scope leaves alone: the first page that shows it."""

    id: Field[int] = number()
    url_hash: Field[int] = column(BigInt, unique=True, doc="Signed 64-bit BLAKE2b of the key of its address.")
    url: Field[str] = column(sa.Text, doc="Its address.")
    page_id: Field[int] = column(BigInt, doc="The link of the page that showed it first.")
    text: Field[str | None] = column(sa.Text, doc="Its anchor text there.")
    count: Field[int] = column(BigInt, doc="How often pages showed it.")


class Skipped(Base):
    """An address that was refused, with the name of the rule that refused it."""

    id: Field[int] = number()
    url_hash: Field[int] = column(BigInt, doc="Signed 64-bit BLAKE2b of the key of its address.")
    url: Field[str] = column(sa.Text, doc="Its address.")
    rule: Field[str] = column(sa.Text, doc="The rule's name.")
    page_id: Field[int | None] = column(BigInt, doc="The link of the page that showed it first.")
    at: Field[int] = time("When it was first refused")
    count: Field[int] = column(BigInt, doc="How often.")

    __table_args__ = (sa.UniqueConstraint("url_hash", "rule"),)


class Forgotten(Base):
    """A host or an address that was taken down: what was known is gone and it is never asked again."""

    target: Field[str] = column(sa.Text, primary_key=True, doc="A host name, or the key of an address.")
    at: Field[int] = time("When it was forgotten")


class Run(Base):
    """One `spider crawl`."""

    id: Field[int] = number()
    began_at: Field[int] = time("When it began")
    ended_at: Field[int | None] = time("When it ended; empty while it runs or when it was killed")
    why: Field[str | None] = column(sa.Text, doc="Why it ended: done, stopped, max-pages, max-time …")
    counts: Field[str | None] = column(sa.Text, doc="What it did (JSON object).")
    pages: Field[int] = column(BigInt, default=0, doc="Pages of those of its workers that have left.")
    done: Field[str | None] = column(sa.Text, doc="What else these did, by name (JSON object).")


class Worker(Base):
    """A process at work on the database.  Its row goes when it ends; one left behind shows a death."""

    id: Field[int] = number()
    run_id: Field[int] = column(BigInt, refers="Run.id", doc="The run it belongs to.")
    machine: Field[str] = column(sa.Text, doc="The machine and its space of process numbers.")
    boot_id: Field[str] = column(sa.Text, doc="The machine's boot.")
    pid: Field[int] = column(BigInt, doc="Process number.")
    started: Field[str] = column(sa.Text, doc="The process's start time, as the system gives it.")
    began_at: Field[int] = time("When it began")
    heartbeat_at: Field[int] = time("When it last said that it lives")
    pages: Field[int] = column(BigInt, default=0, doc="Pages that it has read.")
    granted: Field[int] = column(BigInt, default=0, doc="Pages that it may read, where the run has a limit.")
    done: Field[str | None] = column(sa.Text, doc="What else it did, by name (JSON object).")

    __table_options__: ClassVar = {"sqlite_autoincrement": True}  # a number is never given twice: R links speak of it


class Count(Base):
    """Kept counters, so that nothing on a hot path counts rows."""

    seed_id: Field[int] = column(BigInt, primary_key=True, autoincrement=False, doc="The seed it counts for.")
    name: Field[str] = column(sa.Text, primary_key=True, doc="What it counts: W, R, C, E; relation.*; media.*; cut.*")
    value: Field[int] = column(BigInt, doc="How many.")


class Edge(Base):
    """Every link of every page, kept only when asked for; without it the first page that showed a link is known."""

    page_id: Field[int] = column(BigInt, primary_key=True, autoincrement=False, doc="The link of the page.")
    link_id: Field[int] = column(BigInt, primary_key=True, autoincrement=False, doc="The link on it.")
    text: Field[str | None] = column(sa.Text, doc="Its anchor text there.")
    source: Field[str] = column(sa.Text, doc="Where it stood there: tag@attribute.")
    relation: Field[Relation] = column(Code(Relation), doc="The target as seen from the page.")


class Meta(Base):
    """Facts about the database that must not drift."""

    key: Field[str] = column(sa.Text, primary_key=True, doc="The fact's name, such as key_ladder.")
    value: Field[str] = column(sa.Text, doc="The fact.")
