# SPDX-License-Identifier: BSD-2-Clause
"""Checkpoints of tapes in stores: keys of their own, and dropped by garbage collection."""
from __future__ import annotations

import itertools
import weakref
from collections.abc import Hashable

from ._store import Store

_count = itertools.count()


def new_key() -> tuple[str, int]:
    """That no other checkpoint has, in whichever store it is."""
    return "tape", next(_count)


def drop_with(checkpoint: object, store: Store, key: Hashable) -> None:
    """Drop the object when nothing refers to the checkpoint any more: in any thread at any time."""
    weakref.finalize(checkpoint, store.drop_later, key).atexit = False
