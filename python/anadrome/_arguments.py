# SPDX-License-Identifier: BSD-2-Clause
"""Arguments that are numbers, as the extension takes them; anything else is named in the caller's words."""
from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any


def _kind(value: object) -> str:
    return type(value).__name__


def count(name: str, value: Any) -> int:
    """An int, or what is one, such as numpy's."""
    try:
        found = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int, not {_kind(value)} ({value!r})") from None
    if -2**63 <= found < 2**63:
        return found
    raise ValueError(f"{name} must be below 2**63 in size, not {value!r}")


def counts(name: str, values: Any) -> list[int]:
    """Several."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a sequence of int, not {_kind(values)} ({values!r})")
    return [count(f"{name}[{i}]", value) for i, value in enumerate(values)]


def number(name: str, value: Any) -> float:
    """A real number."""
    if not isinstance(value, (str, bytes)):
        try:
            return float(value)
        except (TypeError, ValueError):
            pass
    raise TypeError(f"{name} must be a number, not {_kind(value)} ({value!r})")


def numbers(name: str, values: Any) -> list[float]:
    """Several."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a sequence of numbers, not {_kind(values)} ({values!r})")
    return [number(f"{name}[{i}]", value) for i, value in enumerate(values)]


def text(name: str, value: Any) -> str:
    """A text."""
    if isinstance(value, str):
        return value
    raise TypeError(f"{name} must be a str, not {_kind(value)} ({value!r})")


def function(name: str, value: Any) -> Any:
    """Something that can be called."""
    if callable(value):
        return value
    raise TypeError(f"{name} must be a function, not {_kind(value)} ({value!r})")
