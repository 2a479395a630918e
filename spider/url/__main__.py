"""``python -m spider.url`` writes the machine as Markdown: its states, its tables and their diagrams."""

from __future__ import annotations

from spider.url.machine import draw

if __name__ == "__main__":
    print(draw())  # noqa: T201  # it is a program
