"""What kind of medium an address is, told by its name or by its type.

Two frozen tables, extensions and MIME types, and the one function that reads them.  Python's
`mimetypes` is not used: half of these are not in it, and its answer depends on the machine.
This room knows nothing of bytes or of documents.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from types import MappingProxyType
from typing import Final

from spider.model import MediaKind

__all__ = ["EXTENSIONS", "MIME_TYPES", "SILENT", "by_mime", "extension", "is_any", "media_kind", "mime_of"]

VIDEO, AUDIO, FLASH = MediaKind.VIDEO, MediaKind.AUDIO, MediaKind.FLASH

Kind = tuple[MediaKind, str]


def _rows(kind: MediaKind, words: str) -> dict[str, Kind]:
    """Read ``name`` or ``name=format`` words into rows of a table."""
    rows = {}
    for word in words.split():
        name, _, form = word.partition("=")
        rows[name] = (kind, form or name)
    return rows


# A manifest is a format, not a kind: HLS, DASH, HDS, Smooth Streaming and SMIL mostly carry video.
EXTENSIONS: Final = MappingProxyType(
    _rows(
        VIDEO,
        """3g2 3gp 3gpp=3gp asf asx avi divx=avi dv f4f=hds f4m=hds f4v flv ism=smooth ismc=smooth ismv=mp4
        m1v=mpeg m2t=ts m2ts=ts m2v=mpeg m3u8=hls m4s=mp4 m4v=mp4 mk3d=mkv mkv mov mp2v=mpeg mp4 mp4v=mp4
        mpe=mpeg mpeg mpg=mpeg mpd=dash mts=ts mxf nsv ogm ogv qt=mov rmvb=rm smil vob webm wm=wmv wmv wvx""",
    )
    | _rows(
        AUDIO,
        """aac ac3 adts=aac aif=aiff aifc=aiff aiff amr ape au caf dts eac3 f4a=mp4 f4b=mp4 flac it kar=midi m3u
        m4a=mp4 m4b=mp4 m4p=mp4 m4r=mp4 mid=midi midi mka=mkv mod mp1=mp3 mp2=mp3 mp3 mpa=mp3 mpc mpga=mp3
        oga=ogg ogg opus pls ra=rm ram rm rmi=midi s3m snd=au spx=ogg tta voc wav wave=wav wax weba=webm wma
        wv xm xspf""",
    )
    | _rows(FLASH, "spl=swf swf")
)

# An extension that is also something else: a country, a language, a directory of modules.  A link needs
# more than it: a declared type, or a name that looks like a file's.
_WEAK: Final = frozenset({"au", "dv", "it", "m4s", "mod", "mpc", "qt", "ra", "rm", "snd", "wm", "wv", "xm"})

# Typed by an element only: nobody links to TypeScript to have it watched.
_ELEMENT_ONLY: Final = MappingProxyType({"ts": (VIDEO, "ts"), "ismt": (VIDEO, "smooth")})

MIME_TYPES: Final = MappingProxyType(
    _rows(
        FLASH,
        """application/x-shockwave-flash=swf application/futuresplash=swf application/x-futuresplash=swf
        application/x-shockwave-flash2-preview=swf application/vnd.adobe.flash.movie=swf""",
    )
    | _rows(
        VIDEO,
        """application/vnd.apple.mpegurl=hls application/x-mpegurl=hls application/mpegurl=hls vnd.apple.mpegurl=hls
        application/dash+xml=dash video/vnd.mpeg.dash.mpd=dash application/f4m=hds application/f4m+xml=hds
        application/vnd.ms-sstr+xml=smooth application/smil=smil application/smil+xml=smil
        application/mp4=mp4 application/x-mp4=mp4 application/mxf=mxf application/x-matroska=mkv
        application/vnd.rn-realmedia=rm application/vnd.rn-realmedia-vbr=rm application/vnd.ms-asf=asf
        application/x-mplayer2=asf application/x-oleobject=asf application/x-ms-wmp=asf
        video/3gpp=3gp video/3gpp2=3g2 video/divx=avi video/avi=avi video/msvideo=avi video/x-msvideo=avi
        video/flv=flv video/x-flv=flv video/x-f4v=f4v video/mp2t=ts video/mp4=mp4 video/x-m4v=mp4 video/m4v=mp4
        video/mpeg=mpeg video/x-mpeg=mpeg video/ogg=ogv video/quicktime=mov video/webm=webm
        video/x-matroska=mkv video/x-ms-asf=asf video/x-ms-wm=wmv video/x-ms-wmv=wmv video/x-ms-wvx=wvx""",
    )
    | _rows(
        AUDIO,
        """application/ogg=ogg application/x-ogg=ogg application/xspf+xml=xspf application/pls+xml=pls
        audio/3gpp=3gp audio/aac=aac audio/x-aac=aac audio/aacp=aac audio/aiff=aiff audio/x-aiff=aiff
        audio/amr=amr audio/basic=au audio/flac=flac audio/x-flac=flac audio/midi=midi audio/x-midi=midi
        audio/mid=midi audio/mp3=mp3 audio/mpeg=mp3 audio/mpeg3=mp3 audio/x-mp3=mp3 audio/x-mpeg=mp3
        audio/mp4=mp4 audio/x-m4a=mp4 audio/m4a=mp4 audio/mpegurl=m3u audio/x-mpegurl=m3u audio/ogg=ogg
        audio/opus=opus audio/x-pn-realaudio=rm audio/x-pn-realaudio-plugin=rm audio/vnd.rn-realaudio=rm
        audio/x-scpls=pls audio/wav=wav audio/wave=wav audio/x-wav=wav audio/vnd.wave=wav audio/webm=webm
        audio/x-matroska=mkv audio/x-ms-wma=wma audio/x-ms-wax=wax""",
    )
)

# Types that say nothing: the name decides (mimesniff, section 5.1, and what servers send for manifests).
SILENT: Final = frozenset(
    {
        "application/download",
        "application/force-download",
        "application/octet-stream",
        "application/octetstream",
        "application/unknown",
        "application/x-download",
        "application/x-octet-stream",
        "application/xml",
        "binary/octet-stream",
        "text/plain",
        "text/xml",
        "unknown/unknown",
    }
)

# A manifest with an audio type, and Ogg, hold what their name says.
_BY_NAME: Final = frozenset({"application/ogg", "application/x-ogg", "audio/mpegurl", "audio/x-mpegurl"})

# "abcnews.au", "www.abc.net.au", "docs.it" at the end of a path are names of users and hosts.
_HOST_LIKE = re.compile(r"(?:^www\.|\.(?:com|net|org|gov|edu|co|asn|id)\.[a-z]{2}$)", re.IGNORECASE)
# MediaWiki's description page of a file is a page.
_WIKI_PAGE = re.compile(r"(?:/wiki/|/index\.php/)[^/:]+:[^/]*$")
_LONGEST = max(map(len, EXTENSIONS))
_NAMES = frozenset(EXTENSIONS)
_CUTS = re.compile("[?#;]|anifest")  # only what stands before these may tell


def extension(url: str) -> str:
    """Return the extension of the last segment of an address's path, lower case, "" if it has none."""
    path = url.partition("#")[0].partition("?")[0]
    slash = path.rfind("/")
    segment = path[slash + 1 :]
    if ";" in segment and "." in segment.partition(";")[0]:
        segment = segment.partition(";")[0]  # a.mp3;jsessionid=1
    dot = segment.rfind(".")
    tail = segment[dot + 1 :]
    if dot <= 0 or len(tail) > _LONGEST:
        return ""  # none, or a hidden name that has no other dot: .spx
    if slash > 0 and path[slash - 1] == "/" and "://" in path:
        return ""  # the last slash is the authority's: what follows is a host
    return tail.lower()


def by_mime(mime: str | None, url: str = "") -> Kind | None:
    """Return what a declared type says; `url` helps where the type leaves it open."""
    if not mime:
        return None
    name = mime.partition(";")[0].strip().lower()
    found = MIME_TYPES.get(name)
    if name in _BY_NAME:
        return by_name(url) or found
    if found is None and name.startswith(("video/", "audio/")):
        found = (VIDEO if name[0] == "v" else AUDIO), name[6:].removeprefix("x-")[:20]
    return found


# The usual name of a format, where the table's first of its kind is another.
_USUAL: Final = MappingProxyType({"mp3": "audio/mpeg", "avi": "video/x-msvideo", "wmv": "video/x-ms-wmv"})


def mime_of(kind: MediaKind, form: str) -> str:
    """Return the type that a format is usually served with: its registered name, else the first that is known."""
    names = [name for name, told in MIME_TYPES.items() if told == (kind, form)]
    own = [name for name in names if name.startswith(f"{kind}/")]
    plain = [name for name in own if not name.startswith(f"{kind}/x-")]
    return _USUAL.get(form) or next(iter(plain or own or names), f"{kind}/x-{form}")


def by_name(url: str) -> Kind | None:
    """Return what the extension says, of an address that an element already presents as a medium."""
    tail = extension(url)
    found = EXTENSIONS.get(tail) or _ELEMENT_ONLY.get(tail)
    return found or _smooth(url)


def media_kind(url: str, mime: str | None = None) -> Kind | None:
    """Return kind and format of an address, told by its type or else by its extension, None if no medium.

    A type that names something else (``text/html``) wins over the name; one that names nothing
    (``application/octet-stream``) leaves it to the name.
    """
    name = mime.partition(";")[0].strip().lower() if mime else ""
    if name:
        found = by_mime(name, url)
        if found or name not in SILENT:
            return found
    if url[url.rfind(".") + 1 :].lower() not in _NAMES and not _CUTS.search(url):
        return None  # most addresses, at a quarter of the cost
    tail = extension(url)
    kind = EXTENSIONS.get(tail)
    if kind is None:
        return _smooth(url)
    return kind if _is_file(url, tail) else None


def is_any(urls: Collection[str]) -> bool:
    """Say whether one of several addresses may be told by its name: a look at all at once, which ends most pages'."""
    together = "\n".join(urls)
    if "?" in together or "#" in together or ";" in together or "anifest" in together:
        return True
    return not _NAMES.isdisjoint(tail.lower() for tail in {url[url.rfind(".") + 1 :] for url in urls})


def _smooth(url: str) -> Kind | None:
    """Know Smooth Streaming's manifest, which has no extension: ``/x.ism/Manifest``."""
    if "anifest" not in url:
        return None
    path = url.partition("?")[0].lower()
    if path.endswith("/manifest") and (".ism/" in path or ".isml/" in path):
        return VIDEO, "smooth"
    return None


def _is_file(url: str, tail: str) -> bool:
    """Say whether the last segment of an address with a media extension is a file's name."""
    if "/wiki/" in url or "/index.php/" in url:
        return not _WIKI_PAGE.search(url.partition("?")[0])
    if tail not in _WEAK:
        return True
    path = url.partition("#")[0].partition("?")[0]
    scheme, _, rest = path.partition("://")
    if rest and not scheme.lower().startswith("http"):
        return True  # a stream's address, whose host is never mistaken for a file
    authority, _, inner = rest.partition("/")
    segment = path.rpartition("/")[2]
    return bool(authority) and "/" in inner and not _HOST_LIKE.search(segment)
