"""A URL taken apart, and put together again (URL standard, sections 4.1 and 4.5)."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["SPECIAL", "Authority", "Fields", "serialize"]

# The special schemes and their ports (section 4.2).
SPECIAL: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21, "file": None}

Authority = tuple[str, str, str | None, int | None]  # username, password, host, port


class Fields(NamedTuple):
    """A URL taken apart, each field as the standard writes it; None is absent, "" is empty."""

    scheme: str
    username: str
    password: str
    host: str | None
    port: int | None
    path: str
    query: str | None
    fragment: str | None

    @property
    def opaque(self) -> bool:
        """Whether the path is opaque (section 4.1): neither a host nor a slash."""
        return self.host is None and not self.path.startswith("/")


def serialize(fields: Fields, *, fragment: bool = True) -> str:
    """Write a URL (section 4.5, URL serializer)."""
    scheme, username, password, name, port, path, query, frag = fields
    parts = [scheme, ":"]
    if name is not None:
        parts += ["//", username, f":{password}" if password else "", "@" if username or password else "", name]
        if port is not None:
            parts.append(f":{port}")
    elif path.startswith("//"):
        parts.append("/.")
    parts.append(path)
    if query is not None:
        parts += ["?", query]
    if fragment and frag is not None:
        parts += ["#", frag]
    return "".join(parts)
