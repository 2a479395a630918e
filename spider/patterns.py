"""Regular expressions of users, matched in time linear in the text, whatever the expression.

The addresses and titles that an expression meets are hostile data, and Python's own engine takes exponential
time for some pairs of the two, such as ``(a+)+$``.  RE2 runs an automaton over the text once and never goes
back (https://swtch.com/~rsc/regexp/regexp3.html); so it has neither look-around nor back-references, and says
so of an expression that wants them.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any, Self

import re2

__all__ = ["MAX_LENGTH", "Pattern"]

MAX_LENGTH = 10_000  # characters of an expression: nobody types more
MAX_MEMORY = 8 << 20  # bytes that an automaton may grow to; beyond, it forgets its states and goes on


@dataclass(frozen=True, slots=True)
class Pattern:
    """One expression: its text, and the automaton made from it."""

    text: str
    automaton: Any

    @classmethod
    def of(cls, text: str) -> Self:
        """Compile an expression in RE2's syntax; ValueError, with the place, for one that is none."""
        if len(text) > MAX_LENGTH:
            msg = f"an expression has at most {MAX_LENGTH:,} characters, not {len(text):,}"
            raise ValueError(msg)
        options = re2.Options()
        options.log_errors = False
        options.max_mem = MAX_MEMORY
        try:
            return cls(text, re2.compile(text, options))
        except UnicodeEncodeError as error:
            reason = f"not a character at position {error.start}"
        except re2.error as error:
            reason = _reason(error)
        msg = _explained(text, reason)
        raise ValueError(msg)

    def search(self, text: str) -> bool:
        """Tell whether the expression is found somewhere in a text."""
        return self.automaton.search(text) is not None

    def __eq__(self, other: object) -> bool:
        """Be equal to a pattern of the same text."""
        return isinstance(other, Pattern) and self.text == other.text

    def __hash__(self) -> int:
        """Hash the text."""
        return hash(self.text)


def _reason(error: Exception) -> str:
    """Return RE2's own words."""
    words = error.args[0] if error.args else ""
    return words.decode("utf-8", "replace") if isinstance(words, bytes) else str(words)


def _explained(text: str, reason: str) -> str:
    """Say what is wrong with an expression: in Python's words, which tell the place, where Python refuses it too."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a later Python may read otherwise
            re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        return f"{text!r} is not a regular expression: {str(error) or 'nested too deeply'}"
    what, _, fragment = reason.rpartition(": ")
    place = text.find(fragment)
    where = f" at position {place}" if what and place >= 0 else ""
    return f"{text!r} cannot be used: {reason}{where} (expressions are RE2's: no look-around, no back-references)"
