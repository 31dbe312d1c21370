# SPDX-License-Identifier: BSD-2-Clause
"""The answers of the command ``anadrome plan`` as objects; the command computes them."""
from __future__ import annotations

import dataclasses
import functools
import html
import json
import re
import tempfile
from pathlib import Path
from typing import Any, Optional, Union

from ._command import command, output_of
from ._errors import Error
from ._timeline import Picture


def _as_parameters(words: str) -> str:
    """What the command says of its flags, of the parameters here."""
    words = words.replace("see anadrome plan --help", "see help(anadrome.plan)")
    return re.sub(r"--([a-z]+(?:-[a-z]+)*)", lambda flag: flag[1].replace("-", "_"), words)


def _answer(words: tuple[str, ...]) -> str:
    try:
        return _as_parameters(output_of(words))
    except Error as error:
        raise Error(_as_parameters(str(error)), error.status) from None


Size = Union[str, int]
Seconds = Union[str, float]


@dataclasses.dataclass(frozen=True)
class PlannedSchedule:
    """What one schedule would take. Where it cannot run, ``remark`` says why and the numbers are
    None. Sizes are bytes, times seconds."""

    schedule: str
    """Its name, for the option ``schedule``."""
    runs: bool
    """Whether it can run with this memory and disk."""
    remark: str
    """How it is laid out, or why it cannot run."""
    seconds: Optional[float] = None
    """The whole sweep, forward and reverse."""
    overhead: Optional[float] = None
    """How much longer that is than with every state in memory; 0.2: 20 % longer."""
    seconds_waiting: Optional[float] = None
    """Of these, waiting for the disk."""
    recompute_factor: Optional[float] = None
    """Forward steps per step."""
    forward_steps: Optional[int] = None
    """Forward steps in all."""
    ram_bytes: Optional[int] = None
    """Memory per rank."""
    disk_bytes: Optional[int] = None
    """Disk, all ranks together."""
    bytes_written: Optional[int] = None
    """Written to disk, all ranks together."""
    bytes_read: Optional[int] = None
    """Read from disk, all ranks together."""
    slots: Optional[int] = None
    """States that memory holds."""
    interval: Optional[int] = None
    """Steps between anchors; None: no such interval."""
    seconds_passes: Optional[float] = None
    """All passes after the sweep; None: none are asked for, or the schedule has none."""


@dataclasses.dataclass(frozen=True)
class PlannedMemory:
    """The least memory with which a sweep ends in time."""

    disk: bool
    """With the disk; otherwise in memory alone."""
    memory_bytes: int
    """Per rank."""
    disk_bytes: int
    """Disk, all ranks together."""
    schedule: str
    """The schedule to take."""
    seconds: float
    """The whole sweep, forward and reverse."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """What every schedule would take, or how much memory a sweep needs to end in time; a notebook
    shows the table and a picture of the sweep.

    ``str(plan)`` is what the command prints.
    """

    schedules: tuple[PlannedSchedule, ...]
    """In the order of the command's table."""
    recommended: Optional[str]
    """The name of the schedule to take; None: none runs."""
    auto: Optional[str]
    """What a run with ``schedule=auto`` takes; None: not known."""
    why: str
    """The reason, in a sentence."""
    seconds_ideal: float
    """The sweep with every state in memory."""
    command: tuple[str, ...] = dataclasses.field(repr=False)
    """The command that computed it."""
    answers: tuple[PlannedMemory, ...] = ()
    """Only with ``target`` or ``walltime``, and without ``schedules`` then: in memory alone, and
    with the disk, if there is one. Empty: no memory suffices."""
    in_time: Optional[bool] = None
    """With these: whether a sweep ends in time, with the memory that was given, or with any."""

    def __getitem__(self, schedule: str) -> PlannedSchedule:
        for row in self.schedules:
            if row.schedule == schedule:
                return row
        raise KeyError(schedule)

    @functools.cached_property
    def _text(self) -> str:
        return _answer(self.command)

    def __str__(self) -> str:
        return self._text

    def svg(self) -> Picture:
        """The picture of the recommended sweep: its steps, its disk and its memory over time; ""
        if no schedule runs."""
        if self.recommended is None:
            return Picture()
        with tempfile.TemporaryDirectory(prefix="anadrome-") as folder:
            path = Path(folder, "plan.svg")
            output_of((*self.command, "--svg", str(path)))
            return Picture(path.read_text())

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>\n{self.svg()}"


def plan(
    *,
    steps: int,
    state: Size,
    memory: Optional[Size] = None,
    step_time: Seconds,
    adjoint_time: Optional[Seconds] = None,
    ranks: int = 1,
    tape_size: Optional[Size] = None,
    stiff: bool = False,
    undo: Optional[Union[str, float]] = None,
    write_rate: Optional[Union[str, float]] = None,
    read_rate: Optional[Union[str, float]] = None,
    disk: Optional[Size] = None,
    compress: Optional[Union[str, float]] = None,
    slot: Optional[Size] = None,
    passes: Optional[int] = None,
    visit_time: Optional[Seconds] = None,
    cores_busy: bool = False,
    target: Optional[float] = None,
    walltime: Optional[Seconds] = None,
) -> Plan:
    """Estimate time, memory and disk of a sweep, for every schedule. Local; needs no MPI.

    It runs the command ``anadrome plan`` of the same installation, or of PATH, whose page explains
    the numbers.

    Parameters
    ----------
    steps : int
        Forward steps.
    state, memory : str or int
        A state of one rank, and the memory of one rank: ``"512MiB"``, or bytes.
    step_time : str or float
        A forward step: ``"80ms"``, or seconds.
    adjoint_time : str or float, optional
        An adjoint step; otherwise two forward steps.
    ranks : int
        MPI ranks.
    tape_size : str or int, optional
        A step's tape on one rank, if the adjoint reads one.
    stiff : bool
        The tape of a step holds the state after it.
    undo : str or float, optional
        Steps can be undone: bytes of a state over those of a residual, and perhaps the time to undo a
        step, as a run's summary says: ``"17,90ms"``.
    write_rate, read_rate : str or float, optional
        Of the disk, per rank: ``"400MB/s"``, or bytes per second. Without a rate there is no disk;
        reads are as fast as writes unless they are given.
    disk : str or int, optional
        Space on disk, all ranks together; otherwise unlimited.
    compress : str or float, optional
        States on disk are compressed: bytes before over bytes after.
    slot : str or int, optional
        A state of one rank in single precision, as ``compress=float32`` keeps it in memory.
    passes : int, optional
        Passes over the trajectory after the sweep, forward and in reverse in turns.
    visit_time : str or float, optional
        A step of a pass forward; otherwise a forward step.
    cores_busy : bool
        No core is free for transfers: they delay the steps by all of their time.
    target : float, optional
        How much memory does a sweep need that takes at most so many times the ideal?
    walltime : str or float, optional
        How much does one need that ends within this time: ``"12h"``, or seconds? With ``memory``
        the answer also says whether that suffices.

    Returns
    -------
    Plan
        A row for each schedule; with ``target`` or ``walltime`` ``answers`` in their place.

    Raises
    ------
    Error
        ``ERR_ARGUMENT``: a number that is none. ``ERR_UNSUPPORTED``: the command is not installed.

    Examples
    --------
    >>> import anadrome
    >>> plan = anadrome.plan(steps=1000, state="512MiB", memory="16GiB", step_time=0.2)
    >>> plan.recommended, plan["revolve"].forward_steps, plan["async"].runs
    ('revolve', 2442, False)
    """
    question: dict[str, Optional[Union[str, int, float]]] = dict(
        steps=steps, state=state, memory=memory, step_time=step_time, adjoint_time=adjoint_time,
        ranks=ranks, tape_size=tape_size, undo=undo, write_rate=write_rate, read_rate=read_rate, disk=disk,
        compress=compress, slot=slot, passes=passes, visit_time=visit_time,
        target=target, walltime=walltime)
    if stiff:
        question["stiff"] = 1
    words = [command("plan"), "plan"]
    for name, value in question.items():
        if value is not None:
            words += ["--" + name.replace("_", "-"), str(value)]
    if cores_busy:
        words.append("--cores-busy")
    answer = json.loads(_answer((*words, "--json")))
    if target is not None or walltime is not None:
        answers = tuple(PlannedMemory(**_exact(row)) for row in answer["answers"])
        in_time = answer["given"]["in_time"] if "given" in answer else bool(answers)
        return Plan((), None, None, "", answer["seconds_ideal"], tuple(words), answers, in_time)
    rows = tuple(_row(row) for row in answer["schedules"])
    return Plan(rows, answer["recommended"], answer["auto"], answer["why"],
                answer["seconds_ideal"], tuple(words))


def _row(members: dict[str, Any]) -> PlannedSchedule:
    known = {field.name for field in dataclasses.fields(PlannedSchedule)}
    members["remark"] = members.get("why_not", members.get("remark", ""))
    members["seconds_passes"] = members.get("passes", {}).get("seconds")
    return PlannedSchedule(**{
        name: value for name, value in _exact(members).items() if name in known})


def _exact(members: dict[str, Any]) -> dict[str, Any]:
    """Integers that a double cannot hold are strings of digits."""
    return {name: int(value) if isinstance(value, str) and value.isdigit() else value
            for name, value in members.items()}
