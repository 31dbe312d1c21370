# SPDX-License-Identifier: BSD-2-Clause
"""What pyadjoint and its schedules share: actions, and a class whose objects give them.

Written from their documentation, for machines that do not have the package.
"""
import collections
import enum


class StorageType(enum.Enum):
    RAM, DISK, WORK, NONE = 0, 1, -1, None

    def __repr__(self):
        return f"StorageType.{self.name}"


def _action(name, *fields):
    class Action(collections.namedtuple(name, fields)):
        def __repr__(self):
            return f"{name}({', '.join(map(repr, self))})"

    Action.__name__ = name
    return Action


Forward = _action("Forward", "n0", "n1", "write_ics", "write_adj_deps", "storage")
Reverse = _action("Reverse", "n1", "n0", "clear_adj_deps")
Copy = _action("Copy", "n", "from_storage", "to_storage")
Move = _action("Move", "n", "from_storage", "to_storage")
EndForward = _action("EndForward")
EndReverse = _action("EndReverse")


class CheckpointSchedule:
    """A derived class has `_iterator`; the object gives its actions once."""

    def __init__(self, max_n=None):
        self._n, self._r, self._max_n = 0, 0, max_n
        self._under_way = None

    n = property(lambda self: self._n)
    r = property(lambda self: self._r)
    max_n = property(lambda self: self._max_n)

    def __iter__(self):
        return self

    def __next__(self):
        if self._under_way is None:
            self._under_way = self._iterator()
        return next(self._under_way)
