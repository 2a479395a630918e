"""A command-line multimedia spider: seeds in, pages with video, audio and Flash out."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
