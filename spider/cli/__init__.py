"""The command line: options in, values out, no decisions.  One file per command.

The room knows how to ask, how to show and how to end; what is asked and shown is the business of
the rooms below.
"""

from __future__ import annotations

from spider.cli.root import main

__all__ = ["main"]
