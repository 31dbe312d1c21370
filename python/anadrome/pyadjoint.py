# SPDX-License-Identifier: BSD-2-Clause
"""Schedules of this library for pyadjoint. Needs checkpoint_schedules, whose actions these are."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Optional, Union

import checkpoint_schedules as cs  # type: ignore[import]

from ._actions import Adjoint, Advance, Turn
from ._errors import Error, Status
from ._schedule import Keep, Restore
from ._schedule import Schedule as Stream
from ._schedule import schedule as stream_of

_NAMES = ("async", "disk_revolve", "hrevolve", "least_memory", "revolve", "uneven")
_WORK = cs.StorageType.WORK
_STORAGES = (cs.StorageType.RAM, cs.StorageType.DISK)  # by tier


class Schedule(cs.CheckpointSchedule):  # type: ignore[misc]
    """A schedule for ``tape.enable_checkpointing``, planned by this library; pyadjoint stores.

    Local; needs no MPI, but every rank must make the same. It is for one adjoint, as
    `checkpoint_schedules.Revolve` is; pyadjoint repeats its actions for later ones. Parameters that
    are not listed here are those of `anadrome.schedule`.

    Parameters
    ----------
    steps : int
        The number of steps.
    schedule : str
        ``revolve``, ``least_memory`` or ``uneven``, in memory; ``hrevolve``, ``disk_revolve`` or
        ``async``, with a disk.
    slots : int
        Checkpoints in memory at a time.

    Raises
    ------
    Error
        As `anadrome.schedule`; ``ERR_UNSUPPORTED``: another schedule.

    Examples
    --------
    >>> from anadrome.pyadjoint import Schedule
    >>> for action in Schedule(3, slots=1):
    ...     print(action)
    Forward(0, 2, True, False, StorageType.RAM)
    Forward(2, 3, False, True, StorageType.WORK)
    EndForward()
    Reverse(3, 2, True)
    Copy(0, StorageType.RAM, StorageType.WORK)
    Forward(0, 1, False, False, StorageType.WORK)
    Forward(1, 2, False, True, StorageType.WORK)
    Reverse(2, 1, True)
    Move(0, StorageType.RAM, StorageType.WORK)
    Forward(0, 1, False, True, StorageType.WORK)
    Reverse(1, 0, True)
    EndReverse()
    """

    def __init__(
        self,
        steps: int,
        schedule: str = "revolve",
        *,
        slots: int,
        disk_slots: Optional[int] = None,
        interval: Optional[int] = None,
        uf: Union[float, Iterable[float], None] = None,
        ub: Optional[float] = None,
        write: Optional[float] = None,
        read: Optional[float] = None,
    ) -> None:
        if schedule not in _NAMES:
            raise Error(f"schedule={schedule} is none for pyadjoint, which takes "
                        f"{', '.join(_NAMES)}", Status.ERR_UNSUPPORTED)
        costs = list(uf) if isinstance(uf, Iterable) else uf

        def stream() -> Stream:
            return stream_of(schedule, steps=steps, slots=slots, disk_slots=disk_slots,
                             interval=interval, record=True, uf=costs, ub=ub, write=write,
                             read=read)

        super().__init__(steps)
        self._restores = _restores_of_each_keep(stream())
        self._stream = stream()
        self._exhausted = False

    def _iterator(self) -> Iterator[Any]:
        for action in _joined(_translated(self._stream, self._restores)):
            if isinstance(action, cs.Forward):
                self._n = action.n1
            elif isinstance(action, (cs.Copy, cs.Move)):
                self._n = action.n
            elif isinstance(action, cs.Reverse):
                self._r += 1
            self._exhausted = isinstance(action, cs.EndReverse)
            yield action

    @property
    def is_exhausted(self) -> bool:
        """Whether the adjoint has ended."""
        return self._exhausted

    def uses_storage_type(self, storage_type: Any) -> bool:
        """Whether checkpoints are kept there."""
        return any(count > 0 and storage_type == _STORAGES[tier] for count, tier in self._restores)


def _restores_of_each_keep(stream: Stream) -> list[tuple[int, int]]:
    """How often what each Keep kept is restored, and its tier; in the order of the stream."""
    found: list[tuple[int, int]] = []
    newest: dict[tuple[int, int], int] = {}  # tier, slot: which Keep
    for action in stream:
        if isinstance(action, Keep):
            newest[action.tier, action.slot] = len(found)
            found.append((0, action.tier))
        elif isinstance(action, Restore):
            keep = newest[action.tier, action.slot]
            found[keep] = (found[keep][0] + 1, action.tier)
    return found


# pyadjoint keeps one set for a step, in one place: a step that is on disk still is not kept in
# memory as well, and what is never restored is not kept at all.
def _translated(stream: Stream, restores_of_each_keep: list[tuple[int, int]]) -> Iterator[Any]:
    keeps = iter(restores_of_each_keep)
    kept: dict[int, tuple[int, int]] = {}  # step: restores to come, tier
    storage = _WORK  # of the next Forward
    for action in stream:
        if isinstance(action, Keep):
            count, tier = next(keeps)
            if action.step in kept:
                kept[action.step] = kept[action.step][0] + count, kept[action.step][1]
            elif count > 0:
                kept[action.step] = count, tier
                storage = _STORAGES[tier]
        elif isinstance(action, Restore):
            count, tier = kept.pop(action.step)
            if count > 1:
                kept[action.step] = count - 1, tier
            yield (cs.Copy if count > 1 else cs.Move)(action.step, _STORAGES[tier], _WORK)
        elif isinstance(action, Advance):
            end = action.last - 1 if action.record else action.last
            if action.first < end:
                yield cs.Forward(action.first, end, storage != _WORK, False, storage)
                storage = _WORK
            if action.record:
                yield cs.Forward(end, action.last, False, True, _WORK)
        elif isinstance(action, Turn):
            yield cs.EndForward()
        elif isinstance(action, Adjoint):
            yield cs.Reverse(action.step + 1, action.step, True)
    yield cs.EndReverse()


def _joined(actions: Iterator[Any]) -> Iterator[Any]:
    """One Forward for those that follow each other, where nothing is kept between them."""
    before: Any = None
    for action in actions:
        is_forward = isinstance(action, cs.Forward) and not action.write_adj_deps
        if before is not None and is_forward and action.storage == _WORK:
            before = cs.Forward(before.n0, action.n1, before.write_ics, False, before.storage)
            continue
        if before is not None:
            yield before
        before = action if is_forward else None
        if not is_forward:
            yield action
