"""What is this address, and is it the same as that one?  Paper 1's room.

Pure functions on text: no network, no file, no page.  The language is the WHATWG URL standard's;
sections named in docstrings are its.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spider.url.engine import choose
from spider.url.ladder import KEY_LADDER, STEPS, key, read_ladder
from spider.url.relation import directory, host, is_kin, relation
from spider.url.typed import complete, has_login, names_port, names_scheme
from spider.url.value import URL, InvalidURL, Step, explain, parse, trace

if TYPE_CHECKING:
    from spider.url.address import identify, identify_all, is_compiled, normalize, normalize_all
else:
    _twin = choose()
    identify, identify_all = _twin.identify, _twin.identify_all
    is_compiled, normalize, normalize_all = _twin.is_compiled, _twin.normalize, _twin.normalize_all

__all__ = [
    "KEY_LADDER",
    "STEPS",
    "URL",
    "InvalidURL",
    "Step",
    "complete",
    "directory",
    "explain",
    "has_login",
    "host",
    "identify",
    "identify_all",
    "is_compiled",
    "is_kin",
    "key",
    "names_port",
    "names_scheme",
    "normalize",
    "normalize_all",
    "parse",
    "read_ladder",
    "relation",
    "trace",
]
