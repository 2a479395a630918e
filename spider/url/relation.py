"""Where one address stands as seen from another (paper 2).

These are functions on normalized addresses; they parse nothing and never fail.
"""

from __future__ import annotations

__all__ = ["directory", "host", "is_kin", "relation"]

_PORTS = {"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21"}


def _split(url: str) -> tuple[str, str, str, str]:
    """Split a normalized address into scheme, host, port ("" is the scheme's own) and path."""
    scheme, _, rest = url.partition(":")
    rest = rest.partition("#")[0].partition("?")[0]
    if not rest.startswith("//"):
        return scheme, "", "", rest
    authority, slash, path = rest[2:].partition("/")
    name = authority.rpartition("@")[2]
    name, port = _name_port(name)
    return scheme, name, port, slash + path


def _name_port(text: str) -> tuple[str, str]:
    if text.endswith("]"):
        return text, ""
    name, colon, port = text.rpartition(":")
    return (name, port) if colon else (text, "")


def _site(scheme: str, name: str, port: str) -> tuple[str, str, str]:
    """Name a site: http and https of a host on their own ports are one."""
    if scheme in {"http", "https"}:
        return "http", name, "" if port == _PORTS[scheme] else port
    return scheme, name, port


def host(url: str) -> str:
    """Return the host name of a normalized address, "" if it has none."""
    return _split(url)[1]


def directory(url: str) -> str:
    """Return a normalized address up to and with the last slash of its path."""
    bare = url.partition("#")[0].partition("?")[0]
    return bare[: bare.rfind("/") + 1]


def relation(page: str, link: str) -> str:
    """Say how `link` stands to `page`, both normalized (paper 2).

    external: another host name or port.  horizontal: the same directory.  downward: below it.
    upward: the link's directory is a proper ancestor of the page's.  crosswise: elsewhere on the site.
    """
    *page_site, page_path = _split(page)
    *link_site, link_path = _split(link)
    if _site(*page_site) != _site(*link_site):
        return "external"
    here = page_path[: page_path.rfind("/") + 1]
    there = link_path[: link_path.rfind("/") + 1]
    if here == there:
        return "horizontal"
    if there.startswith(here):
        return "downward"
    return "upward" if here.startswith(there) else "crosswise"


def is_kin(page: str, link: str) -> bool:
    """Say whether `link` is kin of `page` (paper 2): in the page's directory or below it, on its site."""
    return relation(page, link) in {"horizontal", "downward"}
