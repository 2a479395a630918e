"""What is this address, and is it the same as that one?  Paper 1's room.

Pure functions on text: no network, no file, no page.  The language is the WHATWG URL standard's;
sections named in docstrings are its.
"""

from __future__ import annotations

from spider.url.normalize import KEY_LADDER, STEPS, identify, identify_all, key, normalize, normalize_all
from spider.url.relation import directory, host, is_kin, relation
from spider.url.value import URL, InvalidURL, Step, parse, trace

__all__ = [
    "KEY_LADDER",
    "STEPS",
    "URL",
    "InvalidURL",
    "Step",
    "directory",
    "host",
    "identify",
    "identify_all",
    "is_kin",
    "key",
    "normalize",
    "normalize_all",
    "parse",
    "relation",
    "trace",
]
