"""Addresses as people type them, often without a scheme."""

from __future__ import annotations

import re

__all__ = ["complete", "has_login", "names_port", "names_scheme"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_HOST_AND_PORT = re.compile(r"[^/?#@:\s]+:[0-9]{1,5}(?:[/?#]|$)")


def names_scheme(text: str) -> bool:
    """Tell whether a text begins with a scheme, be it ``mailto:``; what stands before a port is a host."""
    return _SCHEME.match(text) is not None and not names_port(text)


def names_port(text: str) -> bool:
    """Tell whether a text begins with a host and its port, which could be taken for a scheme."""
    return _HOST_AND_PORT.match(text) is not None


def complete(text: str) -> str:
    """Return a typed address with its scheme, https where it names none; it is not normalized."""
    text = text.strip()
    return text if names_scheme(text) else f"https://{text}"


def has_login(url: str) -> bool:
    """Tell whether a normalized address of the web has a user's name or a password in it."""
    return "@" in url.split("/", 3)[2]
