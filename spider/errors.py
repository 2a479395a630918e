"""The one exception tree of the project.

Every error that the spider expects carries what failed and where, prints as one clear line, and
names the exit code that the command line ends with.  Anything else that escapes is an internal
error, exit code 1.

::

    SpiderError                        1  internal error
    ├── InputError                     2  what the user gave cannot be used
    │   ├── InvalidURL (ValueError)    2  not a URL: text, position, reason
    │   ├── SeedsError                 2  a seeds file, its line and column
    │   └── SettingError               2  an option, a variable or a line of the config file
    ├── FetchError                     3  one response that did not come, with its class
    ├── StorageError                   5  the database cannot be opened, read or written
    │   └── StorageLostError           5  its server let go of it: gone, or in another's favour
    ├── BrowserError                   6  no browser, or it does not start
    ├── DiskError                      7  the free-disk floor was reached
    └── BusyError                      8  another run holds the database (--exclusive)
"""

from __future__ import annotations

import re

__all__ = [
    "BrowserError",
    "BusyError",
    "DiskError",
    "FetchError",
    "InputError",
    "InvalidURL",
    "SeedsError",
    "SettingError",
    "SpiderError",
    "StorageError",
    "StorageLostError",
    "caret",
    "masked",
]


_LOGIN = re.compile(
    r"""(?:(?<=//) | (?<![^\s'"(=,]))          # an address begins here, with its scheme or without
        (?!mailto: | \[)([^\s:/\\?#'"]{0,200}):      # the name
        (?![/\\] | \d+[/?#])                   # neither a scheme nor a port
        ([^\s'"]{1,2000})@""",
    re.VERBOSE | re.IGNORECASE,
)


def masked(text: str) -> str:
    """Return the text with an asterisk for each character of a password that stands before a host in it.

    So it does where the password has characters that are none of an address: whoever mistypes shows it too.
    """
    return _LOGIN.sub(lambda found: f"{found[1]}:{'*' * len(found[2])}@", text)


def caret(text: str, position: int, *, width: int = 76) -> str:
    """Show `text` on one line and a caret under the character at `position` (0-based).

    Control characters and lone surrogates are shown as escapes, so that the line is safe to print
    and the caret stays under its place; a long text is cut around the place, to `width` columns, and a
    password in it is `masked`.
    """
    cells = [c if c.isprintable() else ascii(c)[1:-1] for c in masked(text)]
    position = max(0, min(position, len(cells)))
    first = max(0, position - width * 2 // 3)
    before = ("…" if first else "") + "".join(cells[first:position])
    after, room = "", max(8, width - len(before))
    for cell in cells[position:]:
        if len(after) + len(cell) > room:
            after += "…"
            break
        after += cell
    return f"{before}{after}\n{' ' * len(before)}^"


class SpiderError(Exception):
    """The root: whatever the spider raises on purpose."""

    exit_code = 1


class InputError(SpiderError):
    """Something the user gave cannot be used; the message names it."""

    exit_code = 2


class InvalidURL(InputError, ValueError):
    """A text that is no URL: the text, the place in it (0-based) and the reason.

    `reason` is the name of a validation error of the WHATWG URL standard, section 1.1, such as
    ``host-missing``, or the project's own where the standard has no name for it.
    """

    def __init__(self, text: str, position: int, reason: str) -> None:
        """Keep the three facts; the message is made from them when it is asked for."""
        super().__init__(text, position, reason)
        self.text = text
        self.position = position
        self.reason = reason

    def __str__(self) -> str:
        """One line with the reason, then the text with a caret under the place."""
        return f"invalid URL ({self.reason}) at column {self.position + 1}:\n{caret(self.text, self.position)}"


class SeedsError(InputError):
    """A seeds file that cannot be read, or one line of it: name, line number (1-based), reason."""

    def __init__(self, name: str, reason: str, *, line: int | None = None, text: str = "", position: int = 0) -> None:
        """Keep where it happened; `line` None means the file as a whole."""
        super().__init__(name, reason, line, text, position)
        self.name = name
        self.reason = reason
        self.line = line
        self.text = text
        self.position = position

    def __str__(self) -> str:
        """Name, line and reason, then the line itself with a caret."""
        if self.line is None:
            return f"{self.name}: {self.reason}"
        place = f"{self.name}, line {self.line}, column {self.position + 1}"
        return f"{place}: {self.reason}\n{caret(self.text, self.position)}"


class SettingError(InputError):
    """A setting with a value it cannot take: where it was given, its name, and why not."""


class FetchError(SpiderError):
    """A response that did not come, or not whole: its class (a `model.Reason`) and a message.

    `retry_after` is what the server asked for, in seconds from now, or None.
    """

    exit_code = 3

    def __init__(
        self, reason: str, message: str, *, status: int | None = None, retry_after: float | None = None
    ) -> None:
        """Keep the class and the facts that the frontier stores with a link in E."""
        super().__init__(reason, message)
        self.reason = reason
        self.message = message
        self.status = status
        self.retry_after = retry_after

    def __str__(self) -> str:
        """Return the class, then the message."""
        return f"{self.reason}: {self.message}"


class StorageError(SpiderError):
    """The database cannot be opened, read or written; the message names it."""

    exit_code = 5


class StorageLostError(StorageError):
    """The database's server is gone, is starting, or gave another transaction way: the same may succeed later."""


class BrowserError(SpiderError):
    """No browser was found, or it does not start; the message says how to get one."""

    exit_code = 6


class DiskError(SpiderError):
    """The free space on the database's disk fell below the floor."""

    exit_code = 7


class BusyError(SpiderError):
    """Another run holds the database and this one was asked to be alone."""

    exit_code = 8
