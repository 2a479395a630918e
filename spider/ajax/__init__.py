"""What can this application do that its HTML does not say?  Paper 4's room.

It explores an application's states with a browser.  It knows neither the database nor the crawl: who may be
asked what comes down as a plain argument, what was found goes up as values.
"""

from __future__ import annotations

from spider.ajax.application import Application, Limits, Resource, State, Transition
from spider.ajax.browser import Browser, require, unheard
from spider.ajax.dom import Identity
from spider.ajax.explorer import Explorer, Ways
from spider.ajax.fetcher import AjaxFetcher
from spider.ajax.fingerprint import Ajax, Fingerprint, Library, Script, Told, fingerprint
from spider.ajax.gate import Terms, Turns
from spider.ajax.looks import PLAIN, looks, poor
from spider.ajax.shelf import ASSET, LOAD, Answer, Shelf

__all__ = [
    "ASSET",
    "LOAD",
    "PLAIN",
    "Ajax",
    "AjaxFetcher",
    "Answer",
    "Application",
    "Browser",
    "Explorer",
    "Fingerprint",
    "Identity",
    "Library",
    "Limits",
    "Resource",
    "Script",
    "Shelf",
    "State",
    "Terms",
    "Told",
    "Transition",
    "Turns",
    "Ways",
    "fingerprint",
    "looks",
    "poor",
    "require",
    "unheard",
]
