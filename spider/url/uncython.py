"""What `spider.url.lane` needs of the `cython` module where it runs interpreted, without a compiler about.

Cython itself never reads this: to it, the name is a part of its language.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = [
    "Py_ssize_t",
    "bint",
    "cclass",
    "cfunc",
    "compiled",
    "declare",
    "exceptval",
    "final",
    "inline",
    "longlong",
    "p_longlong",
    "p_uchar",
    "p_ulonglong",
    "pointer",
    "typedef",
    "uchar",
    "uint",
    "ulonglong",
    "void",
]

_Thing = TypeVar("_Thing")

compiled = False


def cclass(thing: _Thing) -> _Thing:
    """Leave a class as it is."""
    return thing


cfunc = final = inline = cclass


def exceptval(*_values: object, **_options: object) -> Callable[[_Thing], _Thing]:
    """Leave a function as it is."""
    return cclass


def typedef(kind: _Thing) -> _Thing:
    """Leave a type as it is."""
    return kind


class _Type:
    """A C type: an array of it is a list of zeros."""

    def __getitem__(self, size: int) -> list[int]:
        return [0] * size


def declare(kind: Any, value: Any = None) -> Any:  # noqa: ANN401  # an array or a number
    """Give a variable its value; an array's is its zeros."""
    return kind if value is None else value


uchar = uint = bint = longlong = ulonglong = Py_ssize_t = void = _Type()
p_uchar = p_longlong = p_ulonglong = _Type()


def pointer(kind: _Thing) -> _Thing:
    """Leave a type as it is."""
    return kind
