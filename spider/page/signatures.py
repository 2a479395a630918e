"""What kind of medium a file is, told by its first bytes (WHATWG mimesniff, section 6.2, and what it lacks)."""

from __future__ import annotations

from spider.model import MediaKind
from spider.page.kinds import by_mime

__all__ = ["sniff"]

V, A, F = MediaKind.VIDEO, MediaKind.AUDIO, MediaKind.FLASH

# offset, bytes there, kind, format
_ROWS = (
    (0, b"FWS", F, "swf"),
    (0, b"CWS", F, "swf"),
    (0, b"ZWS", F, "swf"),
    (0, b"FLV\x01", V, "flv"),
    (0, b"\x1a\x45\xdf\xa3", V, "mkv"),
    (0, b"ID3", A, "mp3"),
    (0, b"fLaC", A, "flac"),
    (0, b"#!AMR", A, "amr"),
    (0, b".snd", A, "au"),
    (0, b"MThd", A, "midi"),
    (8, b"AIFF", A, "aiff"),
    (8, b"AIFC", A, "aiff"),
    (8, b"WAVE", A, "wav"),
    (8, b"AVI ", V, "avi"),
    (4, b"ftyp", V, "mp4"),
    (0, b"OggS", A, "ogg"),
    (0, b"#EXTM3U", V, "hls"),
)


def sniff(head: bytes, content_type: str | None = None) -> tuple[MediaKind, str] | None:
    """Return kind and format of a file by its first 512 bytes or more, or else by its declared type."""
    for offset, mark, kind, form in _ROWS:
        if head.startswith(mark, offset):
            return kind, form
    return by_mime(content_type)
