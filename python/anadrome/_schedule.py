# SPDX-License-Identifier: BSD-2-Clause
"""A schedule as a stream of actions, for programs that keep and restore states themselves."""
from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Optional, Union

from ._actions import Adjoint, Advance, Start, Turn
from ._arguments import count, counts, number, numbers, text
from ._core import Schedule as _Stream


@dataclasses.dataclass(frozen=True, slots=True)
class _Place:
    step: int
    """Whose state or tape it is."""
    tier: int
    """0 is memory, 1 is disk."""
    slot: int
    """A number from 0 within the tier. A tape takes ``tape_slots`` of them, from this one on."""
    tape: bool = False
    """A tape, not a state."""
    begin: int = 0
    """Where it lies in memory, in slots, or with ``bytes`` in bytes."""
    units: int = 0
    """How much of it that takes, in slots or in bytes."""


class Keep(_Place):
    """Copy the live state x_step, or with ``tape`` the tape of that step, to a slot."""

    __slots__ = ()


class Restore(_Place):
    """Copy it back. It is live then, and stays where it is kept. The tape of a step holds the
    state after it, too, with ``stiff``."""

    __slots__ = ()


class Drop(_Place):
    """It is not needed there any more. With ``overlapped`` and ``offload``, of a state on disk: not
    in memory; its slot on disk is free when a `Keep` names it again."""

    __slots__ = ()


class Write(_Place):
    """Begin to write the state that was kept in ``slot`` of tier 1. Only ``overlapped`` and
    ``offload`` have this; `Keep` and `Restore` there copy in memory."""

    __slots__ = ()


class Read(_Place):
    """Begin to read it back into memory, for a `Restore` to come. Only ``overlapped`` and
    ``offload`` have this."""

    __slots__ = ()


ScheduleAction = Union[Advance, Turn, Adjoint, Start, Keep, Restore, Drop, Write, Read]

_AT_A_PLACE: dict[int, type[Union[Keep, Restore, Drop, Write, Read]]] = {
    6: Keep, 7: Restore, 8: Drop, 9: Write, 10: Read}


class Schedule:
    """The actions of one sweep, which a loop goes through once; `schedule` makes it.

    Garbage collection frees it, in any thread. It is used by one thread at a time.
    """

    def __init__(self, options: str) -> None:
        self._options = options
        self._stream = _Stream(options)

    def __repr__(self) -> str:
        return f"<anadrome.Schedule {self._options}>"

    def __iter__(self) -> Iterator[ScheduleAction]:
        return self

    def __next__(self) -> ScheduleAction:
        kind, tape, tier, record, again, first, last, branch, slot, begin, units = (
            self._stream.next())
        if kind == 1:
            return Advance(first, last, record, again, branch)
        if kind == 2:
            return Turn(first, again, branch)
        if kind == 3:
            return Adjoint(first, branch)
        if kind == 4:
            raise StopIteration
        if kind == 5:
            return Start(branch, again)
        return _AT_A_PLACE[kind](first, tier, slot, tape != 0, begin, units)

    def end(self, steps: int) -> None:
        """With ``steps=None``: the forward sweep ended after ``steps`` steps in all.

        Called after an `Advance` of the forward sweep, with ``first <= steps <= last``; x_steps is
        live then. `Turn` comes, after what is to be kept.

        Raises
        ------
        Error
            ``ERR_ARGUMENT``: outside of the advance. ``ERR_ORDER``: not after one, or the number of
            steps was known.
        """
        self._stream.end(count("steps", steps))


def schedule(
    name: str,
    *,
    steps: Union[int, Iterable[int], None],
    slots: int,
    disk_slots: Optional[int] = None,
    interval: Optional[int] = None,
    record: bool = False,
    tape_slots: Optional[int] = None,
    stiff: bool = False,
    uf: Union[float, Iterable[float], None] = None,
    ub: Union[float, Iterable[float], None] = None,
    write: Optional[float] = None,
    read: Optional[float] = None,
    bytes: Optional[Iterable[int]] = None,
    objective: Optional[str] = None,
    inputs: Optional[str] = None,
) -> Schedule:
    """The order in which to keep, restore and recompute states, for a loop that does all of it.

    Local; needs no MPI. The live state is the one that the next step starts from; x_0 is live at
    the beginning, except with branches, where `Start` makes it so. `Advance`, `Turn` and `Adjoint`
    are those of a sweep, but the loop itself keeps and restores states; after `Turn` and after
    `Adjoint` no state is live. Costs are in seconds, or in any other unit, the same for all.

    Parameters
    ----------
    name : str
        Which schedule; every one but ``auto``.
    steps : int, iterable of int or None
        The number of steps; with ``join`` those of each branch; None: unknown, `Schedule.end` says.
    slots : int
        States in memory at a time, beside the live one; with ``bytes`` bytes.
    disk_slots : int, optional
        States on disk at a time; otherwise any number.
    interval : int, optional
        ``async``, ``double``: steps between states on disk; otherwise the best for the costs.
    record : bool
        An adjoint step needs the tape of its step, which an `Advance` with ``record`` fills in its
        last step. Otherwise it needs the state.
    tape_slots : int, optional
        ``async``, ``double``, ``mixed``, ``store_all``: tapes are kept, each in so many slots.
    stiff : bool
        ``mixed``: the tape of a step holds the state after it.
    uf, ub : float or iterable of float, optional
        What a step costs, and its adjoint; 1 and 0. ``uf`` of each step for ``uneven`` and
        ``offload``, ``ub`` for ``offload``.
    write, read : float, optional
        What a write and a read of a state cost; 0.
    bytes : iterable of int, optional
        ``least_memory``, ``offload``, ``uneven``: the bytes of x_0 .. x_{n-1}.
    objective, inputs : str, optional
        ``join``: as the options of a run.

    Returns
    -------
    Schedule
        An iterator of actions, for ``match``.

    Raises
    ------
    Error
        ``ERR_ARGUMENT``: values that make no sense or do not go together, too few slots.
        ``ERR_NO_SPACE``: too few slots on disk. ``ERR_MEMORY``: too little memory in this machine.

    Examples
    --------
    >>> import anadrome
    >>> x, kept, read = 1.0, {}, []
    >>> for action in anadrome.schedule("revolve", steps=4, slots=2):
    ...     match action:
    ...         case anadrome.Advance(first, last):
    ...             for k in range(first, last):
    ...                 x = x * x + k
    ...         case anadrome.Keep(k, tier, slot):
    ...             kept[tier, slot] = x
    ...         case anadrome.Restore(k, tier, slot):
    ...             x = kept[tier, slot]
    ...         case anadrome.Drop(k, tier, slot):
    ...             del kept[tier, slot]
    ...         case anadrome.Adjoint(k):
    ...             read.append((k, x))
    >>> read
    [(3, 6.0), (2, 2.0), (1, 1.0), (0, 1.0)]
    """
    def one(key: str, value: Optional[int]) -> Optional[int]:
        return None if value is None else count(key, value)

    def cost(key: str, value: Union[float, Iterable[float], None]) -> Union[float, str, None]:
        if isinstance(value, Iterable):
            return _joined(numbers(key, value))
        return None if value is None else number(key, value)

    known = _joined(counts("steps", steps)) if isinstance(steps, Iterable) else one("steps", steps)
    words = {
        "schedule": text("name", name), "steps": "unknown" if known is None else known,
        "slots": count("slots", slots), "disk_slots": one("disk_slots", disk_slots),
        "interval": one("interval", interval), "record": 1 if record else None,
        "tape_slots": one("tape_slots", tape_slots), "stiff": 1 if stiff else None,
        "uf": cost("uf", uf), "ub": cost("ub", ub), "write": cost("write", write),
        "read": cost("read", read),
        "bytes": None if bytes is None else _joined(counts("bytes", bytes)),
        "objective": objective, "inputs": inputs}
    return Schedule(" ".join(
        f"{word}={value}" for word, value in words.items() if value is not None))


def _joined(values: Iterable[float]) -> str:
    return ",".join(map(str, values))
