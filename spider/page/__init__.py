"""What does this document link to, and what does it play?  The room of papers 2 and 3.

Pure functions from bytes to values: nothing is opened, nothing is fetched, and no bytes make them
raise.  This room knows no database and no crawl.
"""

from __future__ import annotations

from spider.page.kinds import media_kind, mime_of
from spider.page.manifests import Manifest, manifest
from spider.page.mentions import mentions
from spider.page.reader import read
from spider.page.signatures import signature, sniff

__all__ = ["Manifest", "manifest", "media_kind", "mentions", "mime_of", "read", "signature", "sniff"]
