# SPDX-License-Identifier: BSD-2-Clause
"""Checkpoints of a tape in a store, which go when nothing refers to them."""
from __future__ import annotations

import itertools
import weakref
from collections.abc import Mapping
from typing import Any

from ._store import Store

_count = itertools.count()


def new_key() -> tuple[str, int]:
    """That no other checkpoint has, in whichever store it is."""
    return "tape", next(_count)


class Kept:
    """An object of a store that is dropped by garbage collection, in any thread at any time."""

    def __init__(self, store: Store, value: object) -> None:
        self._store = store
        self._key = new_key()
        store.put(self._key, value)
        weakref.finalize(self, store.drop_later, self._key).atexit = False

    def get(self, out: object) -> None:
        """As `Store.get`."""
        self._store.get(self._key, out)


class Package:
    """What a tape's ``_package_data`` holds, apart from switching on and off what is kept here.

    Nothing is to be done where a tape is cleared, reset or copied: its checkpoints are its own.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def clear(self) -> None:
        """Called when the tape is cleared."""

    def reset(self) -> None:
        """Called before the forward sweep is evaluated again."""

    def checkpoint(self) -> Mapping[str, Any]:
        """What `restore_from_checkpoint` gets: nothing."""
        return {}

    def restore_from_checkpoint(self, state: Mapping[str, Any]) -> None:
        """Called with what `checkpoint` returned."""

    def copy(self) -> Package:
        """For a copy of the tape: the same."""
        return self
