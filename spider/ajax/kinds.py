"""What kinds of requests there are, in the browser's words, and what is done about each: tables."""

from __future__ import annotations

__all__ = ["ASSETS", "NOT_LOADED", "ON_THE_WAY", "SAFE", "TOLD"]

NOT_LOADED = frozenset(
    {"Font", "Image", "Media", "TextTrack", "Prefetch", "Manifest", "SignedExchange", "CSPViolationReport"}
)
ASSETS = frozenset({"Script", "Stylesheet"})
TOLD = frozenset({"XHR", "Fetch", "EventSource", "Ping", "Other", "Script"})
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
ON_THE_WAY = {
    "destination_ip_prohibited": "AddressUnreachable",
    "http_request_denied": "AccessDenied",
    "dns_error": "NameNotResolved",
    "connection_timeout": "TimedOut",
    "http_response_timeout": "TimedOut",
}
"""What the browser is told of requests that our own proxy says have failed, by the words of RFC 9209."""
