"""A URL as a value: frozen, comparable, hashable, printable (URL standard, section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import total_ordering

from spider.errors import InvalidURL
from spider.url import charset, reader
from spider.url.fields import Fields, serialize

__all__ = ["URL", "InvalidURL", "Step", "codec_of", "explain", "fields_of", "parse", "trace"]

Step = reader.Step


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class URL:
    """One address, each field as the standard writes it; None is absent, "" is empty.

    `str()` is the serialization of section 4.5, and what equality, hash and order go by.
    """

    scheme: str
    username: str
    password: str = field(repr=False)
    host: str | None
    port: int | None
    path: str
    query: str | None
    fragment: str | None
    _source: tuple[str, Fields | None, str] = field(repr=False)

    @property
    def fields(self) -> Fields:
        """The eight fields as the machine's tuple."""
        return Fields(
            self.scheme,
            self.username,
            self.password,
            self.host,
            self.port,
            self.path,
            self.query,
            self.fragment,
        )

    @property
    def errors(self) -> list[tuple[str, int]]:
        """The validation errors of the text this was parsed from: name (section 1.1) and place, 0-based.

        They are found when asked for, by running the machine once more.
        """
        log = reader.Log()
        reader.run(*self._source, log)
        return _in_order(log.errors)

    def __str__(self) -> str:
        """Write the URL, fragment and all."""
        return serialize(self.fields)

    def __eq__(self, other: object) -> bool:
        """Compare serializations."""
        return self.fields == other.fields if isinstance(other, URL) else NotImplemented

    def __lt__(self, other: object) -> bool:
        """Order by serialization."""
        return str(self) < str(other) if isinstance(other, URL) else NotImplemented

    def __hash__(self) -> int:
        """Hash what equality compares."""
        return hash(self.fields)


def codec_of(encoding: str) -> str:
    """Return Python's codec for a charset's label; a label that names none counts as UTF-8."""
    return "utf-8" if encoding == "utf-8" else charset.codec(encoding) or "utf-8"


def fields_of(base: URL | str | None) -> Fields | None:
    """Return the fields of a base; raise InvalidURL if it is no URL."""
    if base is None:
        return None
    return base.fields if isinstance(base, URL) else reader.run(base)


def parse(text: str, base: URL | str | None = None, *, encoding: str = "utf-8") -> URL:
    """Parse `text` as every browser does, relative to `base` if one is given (section 4.4).

    `encoding` is the charset of the page that the text comes from, in which its query is written; a
    name that is no charset counts as UTF-8.  Raise InvalidURL for a text that is no URL.
    """
    source = text, fields_of(base), codec_of(encoding)
    return URL(*reader.run(*source), source)


def explain(
    text: str, base: URL | str | None = None, *, encoding: str = "utf-8"
) -> tuple[list[Step], list[tuple[str, int]]]:
    """List the machine's steps over `text`, and its validation errors in the order of their places.

    Where it is no URL, both end with what fails.  Raise InvalidURL only if `base` is no URL.
    """
    log = reader.Log()
    fields = fields_of(base)
    failure: list[tuple[str, int]] = []
    try:
        reader.run(text, fields, codec_of(encoding), log)
    except InvalidURL as error:
        failure = [(error.reason, error.position)]
    return log.steps, _in_order(log.errors) + failure


def trace(text: str, base: URL | str | None = None, *, encoding: str = "utf-8") -> list[Step]:
    """List the machine's steps over `text`; see `explain`."""
    return explain(text, base, encoding=encoding)[0]


def _in_order(errors: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Sort errors by their places; what two states met is told once."""
    return sorted(dict.fromkeys(errors), key=lambda error: error[1])
