"""What was found, for other programs: a sitemap, playlists, a feed, bare addresses.

Everything is written as it comes; a program gets whole texts, but for what its format cannot hold.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING, TextIO

from spider.report.text import iso, visible
from spider.report.xml import Writer

if TYPE_CHECKING:
    from spider.store.ask import MediaRow
    from spider.store.forest import PageRow

__all__ = [
    "SITEMAP_LIMIT",
    "write_m3u",
    "write_rss",
    "write_sitemap",
    "write_urls",
    "write_xspf",
]

SITEMAP_LIMIT = 50_000
"""The addresses that one sitemap may hold (sitemaps.org)."""

LONGEST = 28_800  # seconds, the longest video that the sitemap's extension allows


def titled(row: MediaRow) -> str:
    """Return what a medium is called: its own title, the text of its link, or its file's name."""
    path = row.media.partition("?")[0].rstrip("/")
    return row.name or row.text or path.rpartition("/")[2] or row.media


# --- a sitemap ------------------------------------------------------------------------------------


def write_sitemap(pages: Iterable[PageRow], media: Iterable[MediaRow], stream: TextIO) -> int:
    """Write a sitemap of pages with the videos that they hold; return how many pages found no room.

    Both come in the order of `page_id`.  The video extension is Google's: a thumbnail only where a page names one.
    """
    out = Writer(stream)
    out.open(
        "urlset",
        xmlns="http://www.sitemaps.org/schemas/sitemap/0.9",
        xmlns_video="http://www.google.com/schemas/sitemap-video/1.1",
    )
    videos = iter(media)
    video = next(videos, None)
    count = 0
    for page in pages:
        count += 1
        if count > SITEMAP_LIMIT:
            continue
        out.open("url")
        out.leaf("loc", page.url)
        out.leaf("lastmod", iso(page.changed_at))
        while video is not None and video.page_id <= page.id:
            if video.page_id == page.id:
                _video(out, video)
            video = next(videos, None)
        out.close("url")
    out.close("urlset")
    return max(0, count - SITEMAP_LIMIT)


def _video(out: Writer, row: MediaRow) -> None:
    out.open("video:video")
    if row.poster:
        out.leaf("video:thumbnail_loc", row.poster)
    out.leaf("video:title", titled(row)[:100])
    out.leaf("video:description", (row.text or row.title or titled(row))[:2048])
    framed = row.source.partition("@")[0] in {"iframe", "frame"}
    out.leaf("video:player_loc" if framed else "video:content_loc", row.media)
    if row.duration and 1 <= row.duration <= LONGEST:
        out.leaf("video:duration", str(round(row.duration)))
    out.close("video:video")


# --- playlists, a feed, addresses -----------------------------------------------------------------


def write_urls(rows: Iterable[MediaRow], stream: TextIO) -> None:
    """Write the addresses of media, one a line."""
    stream.writelines(f"{visible(row.media)}\n" for row in rows)


def write_m3u(rows: Iterable[MediaRow], stream: TextIO) -> None:
    """Write an extended M3U playlist, in UTF-8: length (-1: unknown) and title before each address."""
    stream.write("#EXTM3U\n")
    for row in rows:
        length = -1 if row.duration is None else round(row.duration)
        stream.write(f"#EXTINF:{length},{visible(titled(row))}\n{visible(row.media)}\n")


def write_xspf(rows: Iterable[MediaRow], stream: TextIO) -> None:
    """Write an XSPF 1 playlist: title, page, picture and length of each."""
    out = Writer(stream)
    out.open("playlist", version="1", xmlns="http://xspf.org/ns/0/")
    out.open("trackList")
    for row in rows:
        out.open("track")
        out.leaf("location", row.media)
        out.leaf("title", titled(row))
        if row.text and row.text != titled(row):
            out.leaf("annotation", row.text)
        out.leaf("info", row.page)
        if row.poster:
            out.leaf("image", row.poster)
        if row.duration is not None:
            out.leaf("duration", str(round(row.duration * 1000)))
        out.close("track")
    out.close("trackList")
    out.close("playlist")


def write_rss(rows: Iterable[MediaRow], stream: TextIO, *, title: str, link: str) -> None:
    """Write an RSS 2.0 feed with an enclosure for each medium, as podcast players read it.

    `title` names the feed, `link` the site it is about.  A length of 0 says that nobody knows the size.
    """
    out = Writer(stream)
    out.open("rss", version="2.0", xmlns_itunes="http://www.itunes.com/dtds/podcast-1.0.dtd")
    out.open("channel")
    out.leaf("title", title)
    out.leaf("link", link)
    out.leaf("description", f"Media that multimedia-spider found on {link}")
    for row in rows:
        out.open("item")
        out.leaf("title", titled(row))
        out.leaf("link", row.page)
        out.leaf("guid", row.media, isPermaLink="false")
        out.leaf("pubDate", format_datetime(datetime.fromtimestamp(row.first_seen // 1_000_000, UTC), usegmt=True))
        out.leaf("description", row.text or row.title or titled(row))
        out.leaf("enclosure", url=row.media, length=str(row.size or 0), type=_mime(row))
        if row.duration:
            out.leaf("itunes:duration", str(round(row.duration)))
        out.close("item")
    out.close("channel")
    out.close("rss")


def _mime(row: MediaRow) -> str:
    """Return a medium's type: as it was told, or as its address says."""
    guessed = mimetypes.guess_type(row.media.partition("?")[0])[0]
    return row.mime or guessed or "application/octet-stream"
