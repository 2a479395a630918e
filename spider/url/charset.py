"""The charsets that a page's queries are written in (Encoding standard, sections 4.2 and 7).

The labels below are the standard's; Python's codecs do the work, with the few characters that they
spell otherwise put right.  This room knows nothing of URLs.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

__all__ = ["codec", "encode_query"]

# Python's codec for each encoding of the standard, then the standard's labels for it (section 4.2).
# UTF-16 and the replacement encoding have the output encoding UTF-8 (section 4.3).
_LABELS = {
    "utf-8": """unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8
        unicodefffe utf-16be csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le
        replacement csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr""",
    "cp866": "866 cp866 csibm866 ibm866",
    "iso8859_2": "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    "iso8859_3": "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    "iso8859_4": "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    "iso8859_5": "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
    "iso8859_6": """arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e
        iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987""",
    "iso8859_7": """csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597
        iso_8859-7 iso_8859-7:1987 sun_eu_greek""",
    "iso8859_8": """csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598
        iso_8859-8 iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical""",
    "iso8859_10": "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso8859_13": "iso-8859-13 iso8859-13 iso885913",
    "iso8859_14": "iso-8859-14 iso8859-14 iso885914",
    "iso8859_15": "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    "iso8859_16": "iso-8859-16",
    "koi8_r": "cskoi8r koi koi8 koi8-r koi8_r",
    "koi8_u": "koi8-ru koi8-u",
    "mac_roman": "csmacintosh mac macintosh x-mac-roman",
    "cp874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "cp1250": "cp1250 windows-1250 x-cp1250",
    "cp1251": "cp1251 windows-1251 x-cp1251",
    "cp1252": """ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591
        iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252""",
    "cp1253": "cp1253 windows-1253 x-cp1253",
    "cp1254": """cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5
        windows-1254 x-cp1254""",
    "cp1255": "cp1255 windows-1255 x-cp1255",
    "cp1256": "cp1256 windows-1256 x-cp1256",
    "cp1257": "cp1257 windows-1257 x-cp1257",
    "cp1258": "cp1258 windows-1258 x-cp1258",
    "mac_cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gbk": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk",
    "gb18030": "gb18030",
    "big5": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc_jp": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "iso2022_jp": "csiso2022jp iso-2022-jp",
    "cp932": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "cp949": """cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601
        windows-949""",
    "x-user-defined": "x-user-defined",  # no codec of Python's
}
_CODECS = {label: name for name, labels in _LABELS.items() for label in labels.split()}

# The places that GB 18030 gave to characters of Unicode in its edition of 2022, where private ones stood before.
_GB = {
    "\u1e3f": b"\xa8\xbc",
    "\u9fb4": b"\xfe\x59",
    "\u9fb5": b"\xfe\x61",
    "\u9fb6": b"\xfe\x66",
    "\u9fb7": b"\xfe\x67",
    "\u9fb8": b"\xfe\x6d",
    "\u9fb9": b"\xfe\x7e",
    "\u9fba": b"\xfe\x90",
    "\u9fbb": b"\xfe\xa0",
    "\ufe10": b"\xa6\xd9",
    "\ufe11": b"\xa6\xdb",
    "\ufe12": b"\xa6\xda",
    "\ufe13": b"\xa6\xdc",
    "\ufe14": b"\xa6\xdd",
    "\ufe15": b"\xa6\xde",
    "\ufe16": b"\xa6\xdf",
    "\ufe17": b"\xa6\xec",
    "\ufe18": b"\xa6\xed",
    "\ufe19": b"\xa6\xf3",
}
# What the standard's encoders write where Python's have another character, or none, at that place.
_BYTES = {
    "cp932": {"\u00a5": b"\\", "\u203e": b"~", "\u2212": b"\x81\x7c"},
    "euc_jp": {"\u00a5": b"\\", "\u203e": b"~", "\u2212": b"\xa1\xdd"},
    "gbk": {"\u20ac": b"\x80", **_GB},
    "gb18030": {"\ue7c7": b"\x815\xf47", **_GB},
    "koi8_u": {"\u045e": b"\xae", "\u040e": b"\xbe"},
    "big5": {
        **{chr(0x2400 + place): bytes((0xA3, 0xC0 + place)) for place in range(32)},
        "\u2421": b"\xa3\xe0",
        "\u256d": b"\xa2\x7e",
        "\u256e": b"\xa2\xa1",
        "\u256f": b"\xa2\xa3",
        "\u2570": b"\xa2\xa2",
        "\u4edd": b"\xc6\xdf",
        "\u5605": b"\xfb\x48",
        "\u5ed0": b"\xfb\xf9",
        "\u5ef4": b"\xc6\xcf",
        "\u60a4": b"\xfc\x6c",
        "\u65e0": b"\xc6\xd3",
        "\u732a": b"\xfe\x52",
        "\u7676": b"\xc6\xd5",
        "\u96b6": b"\xc6\xd7",
        "\ufe68": b"\xa2\x42",
        "\uff3c": b"\xa2\x40",
        "\u00af": b"\xa1\xc2",
        "\u2027": b"\xa1\x45",
        "\u20ac": b"\xa3\xe1",
        "\u2215": b"\xa2\x41",
        "\u2295": b"\xa1\xf2",
        "\u2299": b"\xa1\xf3",
        "\ufe51": b"\xa1\x4e",
        "\uff0f": b"\xa1\xfe",
        "\uff5e": b"\xa1\xe3",
        "\uffe0": b"\xa2\x46",
        "\uffe1": b"\xa2\x47",
        "\uffe5": b"\xa2\x44",
    },
    "x-user-defined": {chr(0xF700 + byte): bytes((byte,)) for byte in range(0x80, 0x100)},
}
_JIS_HOLES = frozenset("\u00a2\u00a3\u00ac\u2016\u301c")
# What the standard's encoders refuse: what their indexes lack.
_HOLES = {
    "big5": frozenset("\u00a2\u00a3\u00a5\u203e\u2022\u223c\u2609\u2641\uff64"),
    "cp932": _JIS_HOLES,
    "euc_jp": _JIS_HOLES,
    "gb18030": frozenset("\ue5e5"),
    "gbk": frozenset("\ue5e5\ue7c7"),
    "koi8_u": frozenset("\u255d\u256c"),
}
# The codec that has the standard's index, where it is not the one of that name.
_INDEX = {"big5": "big5hkscs", "euc_jp": "cp932", "gbk": "gb18030"}


def codec(label: str) -> str | None:
    """Return Python's codec for a charset's label (Encoding standard, 4.2), or None if it is no label.

    The output encodings UTF-16 and replacement give UTF-8 (4.3).
    """
    return _CODECS.get(label.strip("\t\n\f\r ").lower())


@lru_cache(maxsize=4096)
def _spell(char: str, name: str) -> bytes | None:
    """Encode one character, or None where the charset has no bytes for it."""
    known = _BYTES.get(name, {}).get(char)
    if known is not None:
        return known
    try:
        code = char.encode(_INDEX.get(name, name))
    except (UnicodeEncodeError, LookupError):  # of x-user-defined Python has no codec
        return _control(char, name)
    if name == "gbk" or name == "big5":  # noqa: PLR1714
        return code if len(code) == 2 and (name == "gbk" or code[0] > 0xA0) else None  # noqa: PLR2004
    if name in {"cp932", "euc_jp"} and "\ue000" <= char <= "\uf8ff":
        return None  # Microsoft's private rows
    if name == "cp932":
        return _ibm().get(char, code) if code[0] in {0xED, 0xEE} else code
    return _euc(code) if name == "euc_jp" else code


def _control(char: str, name: str) -> bytes | None:
    """Spell a C1 control as the byte of its number, where a Windows charset leaves that byte open."""
    if not name.startswith(("cp125", "cp874")) or char > "\x9f":
        return None
    byte = bytes((ord(char),))
    return None if byte.decode(name, "ignore") else byte


@lru_cache(maxsize=1)
def _ibm() -> dict[str, bytes]:
    """IBM's rows of Shift_JIS, which the standard's encoder prefers to NEC's copy of them."""
    pairs = [bytes((lead, trail)) for lead in (0xFA, 0xFB, 0xFC) for trail in range(0x40, 0xFD) if trail != 0x7F]  # noqa: PLR2004
    return {char: pair for pair in pairs if (char := pair.decode("cp932", "ignore"))}


def _euc(code: bytes) -> bytes | None:
    """Turn Shift_JIS into EUC-JP: the same index, other numbers."""
    if len(code) == 1:
        return b"\x8e" + code if code[0] > 0xA0 else None  # noqa: PLR2004
    lead, trail = code[0] - (0x81 if code[0] < 0xA0 else 0xC1), code[1]  # noqa: PLR2004
    if lead * 2 > 0x5D:  # noqa: PLR2004
        return None
    if trail >= 0x9F:  # noqa: PLR2004
        return bytes((lead * 2 + 0xA2, trail + 2))
    return bytes((lead * 2 + 0xA1, trail + 0x61 - (trail > 0x7E)))  # noqa: PLR2004


def encode_query(text: str, name: str, escapes: list[str]) -> str:
    """Encode `text` for the codec `name`, each byte spelled by `escapes`.

    A character that the charset lacks is written ``%26%23``, its number, ``%3B`` (URL standard, 1.3).
    """
    if name == "iso2022_jp":
        return "".join(_switching(text, escapes))
    holes = _HOLES.get(name, frozenset())
    parts: list[str] = []
    for char in text:
        if char.isascii():
            parts.append(escapes[ord(char)])
        elif char in holes or (known := _spell(char, name)) is None:
            parts.append(_number(char))
        else:
            parts += [escapes[byte] for byte in known]
    return "".join(parts)


def _number(char: str) -> str:
    return f"%26%23{ord(char)}%3B"


def _switching(text: str, escapes: list[str]) -> Iterator[str]:
    """Encode for ISO-2022-JP, which switches between sets of characters (Encoding standard, 12.2.2)."""
    state = _ASCII
    for char in text:
        wanted, code = _in_set(char, state)
        if wanted != state:
            yield from (escapes[byte] for byte in wanted)
            state = wanted
        if code is None:
            yield _number("\ufffd" if char.isascii() else char)
        else:
            yield from (escapes[byte] for byte in code)
    if state != _ASCII:
        yield from (escapes[byte] for byte in _ASCII)


_ASCII, _ROMAN, _JIS = b"\x1b(B", b"\x1b(J", b"\x1b$B"  # the states, by what switches to them
_YEN = {"\u00a5": b"\\", "\u203e": b"~"}


def _in_set(char: str, state: bytes) -> tuple[bytes, bytes | None]:
    """Return the state that a character is written in, after another one, and its bytes; None where it has none."""
    if char in "\x0e\x0f\x1b":
        return _ASCII if state == _JIS else state, None
    if char.isascii():
        return state if state == _ROMAN and char not in "\\~" else _ASCII, char.encode()
    if char in _YEN:
        return _ROMAN, _YEN[char]
    if "\uff61" <= char <= "\uff9f":
        char = _WIDE_MARKS.get(char) or unicodedata.normalize("NFKC", char)
    code = None if char in _JIS_HOLES else _spell(char, "euc_jp")
    if code is None or len(code) != 2 or code[0] < 0xA1:  # noqa: PLR2004  # one byte, or a narrow letter's two
        return _ASCII if state == _JIS else state, None
    return _JIS, bytes(byte & 0x7F for byte in code)


_WIDE_MARKS = {"\uff9e": "\u309b", "\uff9f": "\u309c"}
