"""Addresses as people type them, often without a scheme."""

from __future__ import annotations

import re

__all__ = ["complete", "names_scheme"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_HOST_AND_PORT = re.compile(r"[^/?#@:\s]+:[0-9]{1,5}(?:[/?#]|$)")


def names_scheme(text: str) -> bool:
    """Tell whether a text begins with a scheme, be it ``mailto:``; what stands before a port is a host."""
    return _SCHEME.match(text) is not None and _HOST_AND_PORT.match(text) is None


def complete(text: str) -> str:
    """Return a typed address with its scheme, https where it names none; it is not normalized."""
    text = text.strip()
    return text if names_scheme(text) else f"https://{text}"
