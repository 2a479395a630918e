"""What kind of medium a file is, told by its first bytes (WHATWG mimesniff, section 6.2, and what it lacks).

The rows are this project's own: of the libraries that do this, the better one has had no release for
years, and neither knows manifests or what an Ogg, MP4 or ASF file holds.
"""

from __future__ import annotations

import re
from typing import Final

from spider.model import MediaKind
from spider.page.kinds import Kind, by_mime

__all__ = ["root_name", "signature", "sniff"]

V, A, F = MediaKind.VIDEO, MediaKind.AUDIO, MediaKind.FLASH

_OTHERS: Final = (b"\x89PNG\r\n", b"GIF8", b"\xff\xd8\xff", b"%PDF-", b"PK\x03\x04", b"\x1f\x8b\x08", b"Rar!\x1a\x07")
_HTML: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?[\t\n\f\r ]*(?:<\?xml[^>]{0,200}>[\t\n\f\r ]*)?"
    rb"<(?:!--|(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[\t\n\f\r >])",
    re.IGNORECASE,
)

# offset, bytes there, kind, format
_ROWS: Final = (
    (0, b"FWS", F, "swf"),
    (0, b"CWS", F, "swf"),
    (0, b"ZWS", F, "swf"),
    (0, b"FLV\x01", V, "flv"),
    (0, b"ID3", A, "mp3"),
    (0, b"fLaC", A, "flac"),
    (0, b"#!AMR", A, "amr"),
    (0, b".snd", A, "au"),
    (0, b"dns.", A, "au"),
    (0, b"MThd", A, "midi"),
    (0, b"wvpk", A, "wv"),
    (0, b"MAC ", A, "ape"),
    (0, b"TTA1", A, "tta"),
    (0, b"MP+", A, "mpc"),
    (0, b"MPCK", A, "mpc"),
    (0, b"caff", A, "caf"),
    (0, b"\x0b\x77", A, "ac3"),
    (0, b"Creative Voice File", A, "voc"),
    (0, b"Extended Module: ", A, "xm"),
    (0, b"IMPM", A, "it"),
    (44, b"SCRM", A, "s3m"),
    (0, b".ra\xfd", A, "rm"),
    (0, b".RMF", V, "rm"),
    (0, b"DKIF", V, "ivf"),
    (0, b"NSVf", V, "nsv"),
    (0, b"\x00\x00\x01\xba", V, "mpeg"),
    (0, b"\x00\x00\x01\xb3", V, "mpeg"),
    (0, b"\x06\x0e\x2b\x34\x02\x05\x01\x01", V, "mxf"),
    (0, b"[playlist]", A, "pls"),
)
_CHUNKED: Final = {
    b"RIFFWAVE": (A, "wav"),
    b"RF64WAVE": (A, "wav"),
    b"RIFFAVI ": (V, "avi"),
    b"RIFFRMID": (A, "midi"),
    b"FORMAIFF": (A, "aiff"),
    b"FORMAIFC": (A, "aiff"),
}
_BRANDS: Final = {
    b"M4A ": (A, "mp4"),
    b"M4B ": (A, "mp4"),
    b"M4P ": (A, "mp4"),
    b"F4A ": (A, "mp4"),
    b"F4B ": (A, "mp4"),
    b"qt  ": (V, "mov"),
    b"F4V ": (V, "f4v"),
    b"3gp": (V, "3gp"),
    b"3g2": (V, "3g2"),
}
# Containers of pictures or sound alone, where only what lies behind the head tells which.
_EITHER: Final = frozenset({"3gp", "mkv", "mov", "mp4", "webm", "wmv"})
_PICTURES: Final = frozenset({b"avif", b"avis", b"heic", b"heix", b"mif1", b"msf1", b"crx "})
_OGG: Final = (
    (b"\x80theora", (V, "ogv")),
    (b"BBCD\x00", (V, "ogv")),
    (b"\x01video", (V, "ogv")),
    (b"OpusHead", (A, "opus")),
    (b"\x7fFLAC", (A, "ogg")),
    (b"\x01vorbis", (A, "ogg")),
    (b"Speex   ", (A, "ogg")),
)
_ASF = b"\x30\x26\xb2\x75\x8e\x66\xcf\x11"
_ASF_AUDIO = b"\x40\x9e\x69\xf8\x4d\x5b\xcf\x11\xa8\xfd\x00\x80\x5f\x5c\x44\x2b"
_ASF_VIDEO = b"\xc0\xef\x19\xbc\x4d\x5b\xcf\x11\xa8\xfd\x00\x80\x5f\x5c\x44\x2b"
_QUICKTIME: Final = frozenset({b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot"})
_EBML = b"\x1a\x45\xdf\xa3"
_BOMS: Final = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_ROOT = re.compile(
    r"\s*+(?:<\?[^>]*+>\s*+|<!--.{0,4000}?-->\s*+|<!(?i:DOCTYPE)[^>\[]*+(?:\[[^\]]*+\])?[^>]*+>\s*+)*+<(?:[\w.-]++:)?([A-Za-z]++)",
    re.DOTALL,
)
_ROOTS: Final = {
    "mpd": (V, "dash"),
    "smoothstreamingmedia": (V, "smooth"),
    "manifest": (V, "hds"),
    "smil": (V, "smil"),
    "asx": (V, "asx"),
    "playlist": (A, "xspf"),
}
_TEXT = 4096  # characters that a text's beginning is told from


def root_name(text: str) -> str:
    """Return the local name of a document's first element, lower case, "" if it has none."""
    match = _ROOT.match(text, 0, 16 * _TEXT)
    return match[1].lower() if match else ""


def sniff(head: bytes, content_type: str | None = None) -> MediaKind | None:
    """Return the kind of a file by its first bytes (512 or more), or else by its declared type; None if no medium.

    Where the head of a container that may hold either does not tell, a type that says audio is believed.
    A document, a picture or an archive is no medium, whatever type it was served with.
    """
    told, declared = signature(head), by_mime(content_type)
    if told is None and _is_other(head):
        return None
    if told is None or (told[1] in _EITHER and declared is not None and declared[0] is A):
        told = declared
    return told[0] if told else None


def _is_other(head: bytes) -> bool:
    """Whether the first bytes are surely something else's: HTML (mimesniff, 7.1), a picture, a document, an archive."""
    return head.startswith(_OTHERS) or head[8:12] == b"WEBP" or _HTML.match(head[:_TEXT]) is not None


def signature(head: bytes) -> Kind | None:
    """Return kind and format of a file by its first bytes, None if they are no medium's that is known."""
    for offset, mark, kind, form in _ROWS:
        if head.startswith(mark, offset):
            return kind, form
    return _CHUNKED.get(head[:4] + head[8:12]) or _container(head) or _frames(head) or _text(head)


def _container(head: bytes) -> Kind | None:
    if head.startswith(b"OggS"):
        return next((kind for mark, kind in _OGG if mark in head[:1024]), (A, "ogg"))
    if head.startswith(_ASF):
        return (A, "wma") if _ASF_AUDIO in head and _ASF_VIDEO not in head else (V, "wmv")
    if head.startswith(_EBML):
        form = "webm" if b"webm" in head[:64] else "mkv"
        return (A if b"A_" in head and b"V_" not in head else V), form
    if head[4:8] in _QUICKTIME and head[:2] == b"\0\0":
        return V, "mov"
    return _mp4(head) if head[4:8] == b"ftyp" else None


def _mp4(head: bytes) -> Kind | None:
    """Tell an MP4 by its brand, and where that is silent by the tracks' handlers, if the head holds them."""
    brand = head[8:12]
    if brand in _PICTURES:
        return None
    known = _BRANDS.get(brand) or _BRANDS.get(brand[:3])
    if known is not None:
        return known
    handlers = {head[place + 12 : place + 16] for place in _all(head, b"hdlr")}
    return (A, "mp4") if b"soun" in handlers and b"vide" not in handlers and b"mdat" in head else (V, "mp4")


def _all(head: bytes, mark: bytes) -> list[int]:
    return [match.start() for match in re.finditer(re.escape(mark), head)]


def _frames(head: bytes) -> Kind | None:
    """Know streams that are frames from the first byte: MPEG audio, AAC in ADTS, MPEG transport streams."""
    start = 0
    while head[start : start + 1] == b"\0" and start < 512:  # noqa: PLR2004 (padding before the first frame)
        start += 1
    frame = head[start : start + 4]
    if len(frame) == 4 and frame[0] == 0xFF and frame[1] & 0xE0 == 0xE0:  # noqa: PLR2004 (eleven set bits begin a frame)
        if frame[1] & 0xF6 == 0xF0:  # noqa: PLR2004 (layer 0 is AAC's)
            return A, "aac"
        if frame[1] & 0x18 != 0x08 and frame[1] & 0x06 and frame[2] & 0xF0 != 0xF0 and frame[2] & 0x0C != 0x0C:  # noqa: PLR2004
            return A, "mp3"
    if head[:1] == b"G" and head[188:189] == b"G" and head[376:377] in {b"G", b""}:
        return V, "ts"
    return None


def _text(head: bytes) -> Kind | None:
    """Know the manifests, which are texts."""
    text = head[: 4 * _TEXT].decode("latin-1")
    for mark, name in _BOMS:
        if head.startswith(mark):
            text = head[len(mark) : 4 * _TEXT].decode(name, "replace")
    text = text.lstrip()
    if text.startswith("#EXTM3U"):
        return (V, "hls") if "#EXT-X-" in text else (A, "m3u")
    return _ROOTS.get(root_name(text)) if text.startswith("<") else None
