"""Bytes to characters, as browsers do it: which charset, and what told it.

The order is the HTML standard's (section 13.2.3.2, encoding sniffing): byte order mark, HTTP header,
a meta in the first 1,024 bytes, a later meta, the XML declaration; then valid UTF-8, then a detector.
This room knows nothing of tags other than ``meta``.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

import cchardet
import webencodings

__all__ = ["Decoded", "clean", "decode", "label_name"]

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))

# The names of the Encoding standard that Python's codecs spell otherwise, or decode too strictly:
# the standard's GBK decoder is gb18030's, its Shift_JIS and EUC-KR are Microsoft's supersets.
_CODECS = {
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "iso-2022-jp": "iso2022_jp_ext",
    "iso-8859-8-i": "iso8859_8",
    "macintosh": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic",
    "utf-16le": "utf_16_le",
    "utf-16be": "utf_16_be",
}

# Characters that Python's codecs spell otherwise than the standard's indexes.
_WIDE = str.maketrans("\u301c\u2016\u2212\u00a2\u00a3\u00ac", "\uff5e\u2225\uff0d\uffe0\uffe1\uffe2")
_SPELLED = {
    "big5": str.maketrans("\u2022\uff64\u203e\u223c\u2641\u2609", "\u2027\ufe51\u00af\uff5e\u2295\u2299"),
    "euc-jp": _WIDE,
    "iso-2022-jp": _WIDE,
}

_HEADER = re.compile(r"""charset\s*+=\s*+["']?+\s*+([^\s"';,]++)""", re.IGNORECASE)
# A comment or a script may quote a meta that is none.  Each alternative ends at the end of the file at
# the latest or stops at the next "<", so that no byte is read twice.
_METAS = re.compile(
    rb"<!--(?:.*?-->|.*\Z)|<script[\s>](?:.*?</script|.*\Z)|<meta([\s/][^<>]*+)>", re.IGNORECASE | re.DOTALL
)
# A name begins where none goes on: a long one that has no value is not tried again from each of its letters.
_ATTRIBUTE = re.compile(rb"""(?<![^\s"'>/=])([^\s"'>/=]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>"']*+))""")
_CONTENT = re.compile(rb"""charset\s*+=\s*+["']?+\s*+([^\s"';,]++)""", re.IGNORECASE)
_XML = re.compile(rb"""\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']""")
_UNSAFE = re.compile("[\0\ud800-\udfff]")
_SIGNS = re.compile("[^\0-\x7f\ufffd]")

_READ = 40_000  # characters of one, white space and all, that are looked at
_LONGEST = 2000  # characters of a title or an anchor's text that are kept
_PRESCAN = 1024  # bytes that the standard looks at before it begins to parse
_FEW = 8  # good non-ASCII characters for each bad one that leave a page UTF-8
_GAPS = 20_000  # characters that are filled one by one; a text with more of them is none
_LEADS = b"-yz{|\xa3\xad\xf9\xfa\xfb\xfc"  # bytes that begin what is filled, and may stand elsewhere too
_MOST_LEADS = 100_000
_SURE = 0.5  # below this confidence the detector has guessed a Western page's few accents wrong
_DETECTED = {"UHC": "euc-kr"}  # the detector's names that are no labels
_DETECT = 200_000  # bytes a detector reads; more never changed its mind in the corpus


@dataclass(frozen=True, slots=True)
class Decoded:
    """A document's text, its charset (the standard's name, lower case) and what told it."""

    text: str
    charset: str
    origin: str


def clean(text: str | None) -> str:
    """Fold white space and put U+FFFD for NUL and lone surrogates: the door for text from pages.

    A longer text is cut at 2,000 characters.
    """
    if not text:
        return ""
    folded = " ".join(text[:_READ].split())
    if "\0" in folded or not folded.isascii():  # what is no white space either way
        folded = _UNSAFE.sub("\ufffd", folded)
    return folded if len(folded) <= _LONGEST else folded[:_LONGEST].rstrip()


def label_name(label: str | bytes | None) -> str | None:
    """Return the standard's name for a charset's label (Encoding standard, 4.2), None if it is no label.

    GBK is named gb18030, which decodes it.
    """
    if not label:
        return None
    text = label.decode("latin-1") if isinstance(label, bytes) else label
    found = webencodings.lookup(text)
    if found is None:
        return None
    return "gb18030" if found.name == "gbk" else str(found.name)


def decode(body: bytes, content_type: str | None = None, *, xml: bool = False) -> Decoded:
    """Decode a document; `content_type` is the HTTP header's value with its parameters.

    In `xml` the declaration goes before a meta, which may be quoted in a feed's text.
    """
    for mark, name in _BOMS:
        if body.startswith(mark):
            return Decoded(_text(body[len(mark) :], name), name, "bom")
    declared, origin = _declared(body, content_type, xml=xml)
    if declared is not None:
        return Decoded(_text(body, declared), declared, origin)
    return _undeclared(body)


def _declared(body: bytes, content_type: str | None, *, xml: bool) -> tuple[str | None, str]:
    header = _HEADER.search(content_type) if content_type else None
    name = label_name(header[1]) if header else None
    if name is not None:
        return name, "header"
    ways = (_meta, "meta"), (_declaration, "xml")
    for find, origin in reversed(ways) if xml else ways:
        name = find(body)
        if name is not None:
            return name, origin
    return None, ""


def _declaration(body: bytes) -> str | None:
    match = _XML.match(body, 0, _PRESCAN)
    return _in_markup(label_name(match[1])) if match else None


def _meta(body: bytes) -> str | None:
    """Find the first meta that declares a charset, in the first 1,024 bytes or later."""
    for match in _METAS.finditer(body):
        if match[1] is not None:
            name = _in_markup(label_name(_meta_label(match[1])))
            if name is not None:
                return name
    return None


def _meta_label(attributes: bytes) -> bytes | None:
    found: dict[bytes, bytes] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(attributes):
        found.setdefault(name.lower(), double or single or bare)
    if b"charset" in found:
        return found[b"charset"].strip()
    # "httpequiv" is a slip that pages make and Python tools read all the same
    if b"content" in found and (b"http-equiv" in found or b"httpequiv" in found):
        match = _CONTENT.search(found[b"content"])
        return match[1] if match else None
    return None


def _in_markup(name: str | None) -> str | None:
    """Put what a declaration inside the bytes can mean: ASCII letters were read, so UTF-16 it is not."""
    if name in {"utf-16le", "utf-16be"}:
        return "utf-8"
    return "windows-1252" if name == "x-user-defined" else name


def _undeclared(body: bytes) -> Decoded:
    text = body.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    if not bad or sum(1 for _ in _SIGNS.finditer(text)) >= _FEW * bad:
        return Decoded(text, "utf-8", "utf-8")
    guess = cchardet.detect(body[:_DETECT])
    label = guess.get("encoding") or ""
    name = label_name(_DETECTED.get(label.upper(), label))
    if name is None or name == "utf-8" or (guess.get("confidence") or 0) < _SURE:
        return Decoded(_text(body, "windows-1252"), "windows-1252", "default")
    return Decoded(_text(body, name), name, "detector")


def _text(body: bytes, name: str) -> str:
    if name == "replacement":
        return "\ufffd" if body else ""
    if name in _SINGLE:
        return codecs.charmap_decode(body, "replace", _SINGLE[name])[0]
    codec = _CODECS.get(name, name)
    text = body.decode(codec, "replace")
    gaps = text.count("\ufffd") if name in _LEFT_OPEN else 0
    if 0 < gaps <= _GAPS and len(body) - len(body.translate(None, _LEADS)) <= _MOST_LEADS:
        text = body.decode(codec, "spider.filled")
    return text.translate(_SPELLED[name]) if name in _SPELLED else text


def _table(codec: str, own: dict[int, str]) -> str:
    """Write a single-byte charset's 256 characters; an unassigned byte below A0 is the C1 control of its number."""
    chars = [bytes((byte,)).decode(codec, "replace") for byte in range(256)]
    return "".join(
        own.get(byte) or (chr(byte) if char == "\ufffd" and byte < 0xA0 else char)  # noqa: PLR2004 (C1 ends at 9F)
        for byte, char in enumerate(chars)
    )


def _filled(error: UnicodeError) -> tuple[str, int]:
    """Read what Python's codec leaves open as the Encoding standard fills it: NEC's and IBM's rows, the euro."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = error.object[error.start : error.start + 2]
    for sign in _EUROS.get(error.encoding, ()):
        if pair.startswith(sign):
            return "\u20ac", error.start + len(sign)
    if error.encoding.startswith("iso2022"):
        pair = bytes(byte ^ 0x80 for byte in pair)
    if error.encoding in _JAPANESE and len(pair) == 2 and min(pair) > 0xA0 and max(pair) < 0xFF:  # noqa: PLR2004
        row, cell = divmod(pair[0] - 0xA1, 2)
        lead = row + (0x81 if row < 31 else 0xC1)  # noqa: PLR2004
        trail = pair[1] - 2 if cell else pair[1] - 0x61 + (pair[1] > 0xDF)  # noqa: PLR2004
        return bytes((lead, trail)).decode("cp932", "replace")[:1], error.start + 2
    return "\ufffd", error.start + 1


_JAPANESE = frozenset({"euc_jp", "iso2022_jp_ext"})
_EUROS = {"gb18030": (b"\x80",), "big5hkscs": (b"\xa3\xe1",)}
_SINGLE = {
    **{f"windows-125{n}": _table(f"cp125{n}", {0xCA: "\u05ba"} if n == 5 else {}) for n in range(9)},  # noqa: PLR2004
    "windows-874": _table("cp874", {}),
    "koi8-u": _table("koi8_u", {0xAE: "\u045e", 0xBE: "\u040e"}),
    "x-user-defined": _table("ascii", {byte: chr(0xF700 + byte) for byte in range(0x80, 0x100)}),
}
_LEFT_OPEN = frozenset({"big5", "euc-jp", "gb18030", "iso-2022-jp"})
codecs.register_error("spider.filled", _filled)
