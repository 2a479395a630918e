"""The slashes before a special URL's authority or path, and what is wrong with them."""

from __future__ import annotations

__all__ = ["misplaced"]


def misplaced(text: str, index: int, *, relative: bool) -> list[tuple[str, int]]:
    """List the validation errors of the slashes from `index` on: missing, too many or backslashes.

    They stand behind a scheme, or at the beginning of a text without one (`index` 0).  `relative` says
    that the text may be relative: it has no scheme, or its base's.  The states are those of section
    4.4, from the special relative or authority state to the special authority ignore slashes state.
    """
    errors: list[tuple[str, int]] = []
    if text.startswith("//", index):
        index += 2
    else:
        if index:
            errors.append(("special-scheme-missing-following-solidus", index))
        for _ in range(2 * relative):  # the relative and the relative slash state
            if not _is_slash(text, index):
                return errors
            if text[index] == "\\":
                errors.append(("invalid-reverse-solidus", index))
            index += 1
    while _is_slash(text, index):
        errors.append(("special-scheme-missing-following-solidus", index))
        index += 1
    return errors


def _is_slash(text: str, index: int) -> bool:
    return text[index : index + 1] in {"/", "\\"}
