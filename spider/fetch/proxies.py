"""Which proxy, if any, leads to an origin.

The choice is a function of the origin alone, made anew for each request and so for each hop of a redirect; the
proxy's own password goes to the proxy and to nobody else.  The environment is read once, and only where asked to.
"""

from __future__ import annotations

import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from spider.errors import SettingError
from spider.fetch.guard import DEFAULT_PORTS, Origin
from spider.fetch.passes import basic

__all__ = ["Proxies", "Proxy", "read_proxy"]


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy of HTTP: plain (http) or under TLS (https)."""

    scheme: str
    host: str
    port: int
    headers: Mapping[str, str]

    def forwards(self, origin: Origin) -> bool:
        """Whether it is asked for an address of this origin itself; else it gives a tunnel."""
        return origin[0] == "http"


def read_proxy(text: str, given_by: str) -> Proxy:
    """Read ``http://[user:password@]host[:port]``; SettingError, which quotes no password, where it is none."""
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        host, port = parts.hostname, parts.port
        good = parts.scheme in DEFAULT_PORTS and host and host.isascii() and host.isprintable() and " " not in host
        if not good or parts.path.strip("/") or parts.query or parts.fragment:
            raise ValueError  # noqa: TRY301  # one class, and one message, for all that may be wrong
    except ValueError:
        msg = f"{given_by}: not the address of a proxy; write http://host:port or https://host:port"
        raise SettingError(msg) from None
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    headers = {"Proxy-Authorization": basic(f"{user}:{password}")} if parts.username else {}
    return Proxy(parts.scheme, str(host), port or DEFAULT_PORTS[parts.scheme], headers)


class Proxies:
    """The way to each origin: one proxy for all, or those of the environment, or none."""

    def __init__(self, *, proxy: str | None = None, environment: bool = False) -> None:
        """Read what is given; `proxy` goes before the environment's."""
        self._one = None if proxy is None else read_proxy(proxy, "--proxy")
        self._known: dict[str, Proxy] = {}
        self._bypass: dict[str, str] = {}
        if environment and self._one is None:
            found = urllib.request.getproxies_environment()
            self._bypass = {"no": found["no"]} if found.get("no") else {}
            for scheme in DEFAULT_PORTS:
                text = found.get(scheme) or found.get("all")
                if text:
                    self._known[scheme] = read_proxy(text, f"{scheme}_proxy")

    def way(self, origin: Origin) -> Proxy | None:
        """Return the proxy that leads to an origin; None where there is none to go through."""
        if self._one is not None:
            return self._one
        proxy = self._known.get(origin[0])
        if proxy is None or not self._bypass:
            return proxy
        place = f"{origin[1]}:{origin[2]}"
        skips = urllib.request.proxy_bypass_environment(place, self._bypass)  # type: ignore[attr-defined]  # typeshed hides it
        return None if skips else proxy
