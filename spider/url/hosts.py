"""Hosts: domains by UTS 46, IPv4 in all its spellings, IPv6 (URL standard, section 3).

Pure functions from the text of a host to its serialization.  A host that is none raises
`InvalidURL` with its own text and the place in it; the machine puts it in the place of the whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

from spider.errors import InvalidURL
from spider.url import percent

__all__ = ["LONGEST", "parse"]

Report = Callable[[str, int], None]

LONGEST = 4096  # characters of a host that goes to IDNA: punycode takes quadratic time
_PIECE = 1000  # characters that the library's mapping takes at once

# Section 3.1.
_FORBIDDEN_HOST = re.compile(r"[\x00\t\n\r #/:<>?@\[\\\]^|]")
_FORBIDDEN_DOMAIN = re.compile(r"[\x00-\x20\x7f#/:<>?@\[\\\]^|%]")
_PLAIN = re.compile(r"[0-9a-z_.!$&'()*+,;=~`{}\"-]+", re.ASCII)
_NUMBER_END = re.compile(r"(?:^|\.)(?:[0-9]+|0[xX][0-9a-fA-F]*)\.?$")
_NUMBER = re.compile(r"0[xX](?P<hex>[0-9a-fA-F]*)|0(?P<octal>[0-7]*)|(?P<decimal>[1-9][0-9]*)")
_ZEROS = re.compile(r"(?<![0-9a-f])0(?::0)+(?![0-9a-f])")
_HUGE = 1 << 64
_JOINERS = "\u200c\u200d"


def _ignore(_name: str, _place: int) -> None:
    """Report nowhere."""


def parse(text: str, *, special: bool, report: Report = _ignore) -> str:
    """Parse a host and serialize it (sections 3.5 and 3.6).

    `report` is called with the name and place of each validation error that does not fail.
    Raise InvalidURL for a host that is none.
    """
    if text.startswith("["):
        if not text.endswith("]"):
            raise InvalidURL(text, len(text), "IPv6-unclosed")
        return f"[{_ipv6_text(_ipv6(text))}]"
    if not special:
        return _opaque(text, report)
    return _domain(text, report)


def _opaque(text: str, report: Report) -> str:
    """Percent-encode an opaque host (section 3.5, opaque-host parser)."""
    if found := _FORBIDDEN_HOST.search(text):
        raise InvalidURL(text, found.start(), "host-invalid-code-point")
    for place in percent.bad_units(text):
        report("invalid-URL-unit", place)
    return percent.encode(text, percent.C0_CONTROL)


def _domain(text: str, report: Report) -> str:
    """Turn a special URL's host into ASCII, or into the IPv4 address that it spells (section 3.5)."""
    if _PLAIN.fullmatch(text):
        domain = text
    else:
        domain = _to_ascii(text)
        if found := _FORBIDDEN_DOMAIN.search(domain):
            place = text.find(found[0])
            raise InvalidURL(text, max(place, 0), "domain-invalid-code-point")
    return _ipv4(domain, report) if _NUMBER_END.search(domain) else domain


def _to_ascii(text: str) -> str:
    """Percent-decode a domain and take it to ASCII (section 3.3; CheckHyphens and VerifyDnsLength off)."""
    domain = percent.decode(text).decode("utf-8", "replace") if "%" in text else text
    if domain.isascii():  # labels in punycode are taken as they stand
        return domain.lower()
    if len(domain) > LONGEST:
        raise InvalidURL(text, LONGEST, "domain-to-ASCII")
    try:
        return _uts46(domain)
    except ValueError as error:  # idna's and punycode's own errors are ValueErrors
        place = getattr(error, "position", None)
        raise InvalidURL(text, place - 1 if place and domain == text else 0, "domain-to-ASCII") from error


@lru_cache(maxsize=1024)
def _uts46(domain: str) -> str:
    """Process a domain by UTS 46, section 4; raise ValueError where it records an error."""
    import idna  # noqa: PLC0415  # a heavy import that most runs never need

    labels = _mapped(domain).split(".")
    plain = [_decoded(label) if label.startswith("xn--") else label for label in labels]
    for label in plain:
        _check(label)
    if any(unicodedata.bidirectional(c) in {"R", "AL", "AN"} for c in "".join(plain)):
        for label in filter(None, plain):
            idna.check_bidi(label, check_ltr=True)
    result = ".".join([label if label.isascii() else "xn--" + _punycode(label) for label in plain])
    if not result:
        msg = "nothing is left of it"
        raise ValueError(msg)
    return result


def _mapped(text: str) -> str:
    """Map by UTS 46's table and normalize to NFC; raise ValueError for a disallowed character."""
    import idna  # noqa: PLC0415

    pieces = [text[i : i + _PIECE] for i in range(0, len(text), _PIECE)]
    return unicodedata.normalize("NFC", "".join([idna.uts46_remap(piece, std3_rules=False) for piece in pieces]))


def _punycode(label: str) -> str:
    return label.encode("punycode").decode("ascii")


def _decoded(label: str) -> str:
    """Decode a label that begins with ``xn--``; it must be what its decoding would be written as."""
    decoded = label[4:].encode("ascii").decode("punycode")
    if decoded.isascii() or "xn--" + _punycode(decoded) != label:
        msg = "not the punycode of a label"
        raise ValueError(msg)
    if _mapped(decoded) != decoded:
        msg = "a character that UTS 46 does not allow"
        raise ValueError(msg)
    return decoded


def _check(label: str) -> None:
    """Check a label's first character and its joiners (UTS 46, section 4.1, criteria 6 and 8)."""
    import idna  # noqa: PLC0415

    if label and unicodedata.category(label[0]).startswith("M"):
        msg = "a label begins with a combining mark"
        raise ValueError(msg)
    for place, char in enumerate(label):
        if char in _JOINERS and not idna.valid_contextj(label, place):
            msg = "a joiner where none may stand"
            raise ValueError(msg)


def _ipv4(text: str, report: Report) -> str:
    """Parse an IPv4 address of one to four numbers, each in base 8, 10 or 16 (section 3.5)."""
    parts = text.split(".")
    if not parts[-1]:
        report("IPv4-empty-part", len(text))
        parts.pop()
    if len(parts) > 4:  # noqa: PLR2004
        raise InvalidURL(text, 0, "IPv4-too-many-parts")
    numbers = []
    place = 0
    for part in parts:
        number = _ipv4_number(part)
        if number is None:
            raise InvalidURL(text, place, "IPv4-non-numeric-part")
        if part[0] == "0" and len(part) > 1:
            report("IPv4-non-decimal-part", place)
        numbers.append(number)
        place += len(part) + 1
    last = 256 ** (5 - len(numbers))
    if max(numbers[:-1], default=0) > 255 or numbers[-1] >= last:  # noqa: PLR2004
        raise InvalidURL(text, 0, "IPv4-out-of-range-part")
    if numbers[-1] > 255:  # noqa: PLR2004
        report("IPv4-out-of-range-part", text.rfind(parts[-1]))
    value = numbers[-1] + sum(n * 256 ** (3 - i) for i, n in enumerate(numbers[:-1]))
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


def _ipv4_number(text: str) -> int | None:
    """Read one number of an IPv4 address (section 3.5, IPv4 number parser); None if it is none."""
    match = _NUMBER.fullmatch(text)
    if not match:
        return None
    digits = (match[match.lastgroup or ""] or "").lstrip("0")
    if len(digits) > 20:  # noqa: PLR2004  # Python refuses to read thousands of digits
        return _HUGE
    base = {"hex": 16, "octal": 8, "decimal": 10}[match.lastgroup or ""]
    return int(digits or "0", base)


def _ipv6(text: str) -> list[int]:
    """Parse an IPv6 address in brackets to its eight pieces (section 3.5, IPv6 parser)."""
    body = text[1:-1]
    head, compressed, tail = body.partition("::")
    if compressed and ("::" in tail or tail.startswith(":")):
        raise InvalidURL(
            text, len(head) + 3 + tail.find("::") if "::" in tail else len(head) + 3, "IPv6-multiple-compression"
        )
    if not compressed and body.startswith(":"):
        raise InvalidURL(text, 1, "IPv6-invalid-compression")
    if not body:
        raise InvalidURL(text, 1, "IPv6-too-few-pieces")
    left = _ipv6_pieces(text, head, 1, last=not compressed)
    right = _ipv6_pieces(text, tail, len(head) + 3, last=True)
    missing = 8 - len(left) - len(right)
    if missing < bool(compressed):
        raise InvalidURL(text, 1, "IPv6-too-many-pieces")
    if missing and not compressed:
        raise InvalidURL(text, len(text) - 1, "IPv6-too-few-pieces")
    return left + [0] * missing + right


def _ipv6_pieces(text: str, part: str, place: int, *, last: bool) -> list[int]:
    """Read the pieces on one side of ``::``; the last of all may be an IPv4 address."""
    pieces: list[int] = []
    words = part.split(":") if part else []
    for index, word in enumerate(words):
        if "." in word and last and index == len(words) - 1:
            pieces += _embedded(text, word, place)
            if len(pieces) > 8:  # noqa: PLR2004
                raise InvalidURL(text, place, "IPv4-in-IPv6-too-many-pieces")
        elif not re.fullmatch("[0-9A-Fa-f]{1,4}", word):
            bad = re.match("[0-9A-Fa-f]{0,4}", word)
            raise InvalidURL(text, place + (bad.end() if bad else 0), "IPv6-invalid-code-point")
        else:
            pieces.append(int(word, 16))
        place += len(word) + 1
    return pieces


def _embedded(text: str, word: str, place: int) -> list[int]:
    """Read the IPv4 address at an IPv6 address's end: four decimal numbers without leading zeros."""
    numbers = word.split(".")
    for number in numbers:
        if not re.fullmatch("0|[1-9][0-9]*", number):
            reason = (
                "IPv4-in-IPv6-too-few-parts"
                if not number and place >= len(text) - 1
                else "IPv4-in-IPv6-invalid-code-point"
            )
            raise InvalidURL(text, place, reason)
        if len(number) > 3 or int(number) > 255:  # noqa: PLR2004
            raise InvalidURL(text, place, "IPv4-in-IPv6-out-of-range-part")
        place += len(number) + 1
    if len(numbers) != 4:  # noqa: PLR2004
        reason = "IPv4-in-IPv6-too-few-parts" if len(numbers) < 4 else "IPv4-in-IPv6-invalid-code-point"  # noqa: PLR2004
        raise InvalidURL(text, place - 1, reason)
    a, b, c, d = map(int, numbers)
    return [a << 8 | b, c << 8 | d]


def _ipv6_text(pieces: list[int]) -> str:
    """Serialize an IPv6 address, its first longest run of two or more zeros as ``::`` (section 3.6)."""
    text = ":".join(f"{piece:x}" for piece in pieces)
    best = max(_ZEROS.finditer(text), key=lambda run: run.end() - run.start(), default=None)
    if best is None:
        return text
    return text[: best.start()].rstrip(":") + "::" + text[best.end() :].lstrip(":")
