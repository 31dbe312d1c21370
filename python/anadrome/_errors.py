# SPDX-License-Identifier: BSD-2-Clause
"""Statuses of the library as exceptions."""
from __future__ import annotations

import re

from ._named import Named


class Status(Named):
    """The outcome of a call, as in ``anadrome/status.h``."""

    OK = 0
    STOPPED = 1
    ERR_ARGUMENT = 2
    ERR_ORDER = 3
    ERR_MEMORY = 4
    ERR_NO_SPACE = 5
    ERR_IO = 6
    ERR_CORRUPT = 7
    ERR_NONDETERMINISTIC = 8
    ERR_BUSY = 9
    ERR_PEER = 10
    ERR_UNSUPPORTED = 11
    ERR_INTERNAL = 12


class Error(Exception):
    """A call that did not succeed; its text says what failed, where, and what to do.

    What is collective raises it on every rank.

    Attributes
    ----------
    status : Status
        Which failure it is. ``Status.STOPPED`` if some rank asked to stop.
    """

    def __init__(self, message: str, status: Status = Status.ERR_INTERNAL) -> None:
        super().__init__(message)
        self.status = status


class OutOfMemoryError(Error, MemoryError):
    """The memory budget, or the machine's memory, does not suffice: ``Status.ERR_MEMORY``."""


class StorageError(Error, OSError):
    """A disk or file failed: ``ERR_NO_SPACE``, ``ERR_IO``, ``ERR_CORRUPT`` or ``ERR_BUSY``."""


_CLASSES: dict[Status, type[Error]] = {
    Status.ERR_MEMORY: OutOfMemoryError,
    Status.ERR_NO_SPACE: StorageError,
    Status.ERR_IO: StorageError,
    Status.ERR_CORRUPT: StorageError,
    Status.ERR_BUSY: StorageError,
}


# The names in messages, which are those of C. No file is meant: "/" before or after.
_NAMES = {"anadrome_schedule_open gives its actions (anadrome/schedule.h)": "anadrome.schedule gives its actions",
          "anadrome_begin": "Run.sweep", "anadrome_next": "next(sweep)", "anadrome_pass": "a pass",
          "anadrome_add_device_field": "Run.state", "ANADROME_MOST_SEEDS": "8",
          **{f"anadrome_{name}": f"Run.{name}"
             for name in ("resumed", "rewind", "close", "check_gradient", "solve", "fail", "request_stop")}}
_ANY_NAME = re.compile(rf"(?<![\w/])(?:{'|'.join(map(re.escape, _NAMES))})(?![\w/])")


def in_python(message: str) -> str:
    """A message of the library with Python's names."""
    return _ANY_NAME.sub(lambda name: _NAMES[name[0]], message)


def error_of(status: int, message: str) -> Error:
    """The exception for a status; the extension raises it."""
    known = Status(status)
    return _CLASSES.get(known, Error)(in_python(message), known)


def describe(exception: BaseException) -> str:
    """The kind and text of an exception in one line, for the other ranks."""
    kind = type(exception).__name__
    try:
        text = " ".join(str(exception).split())
    except Exception:  # its __str__ is the user's
        return kind
    return f"{kind}: {text}" if text else kind
