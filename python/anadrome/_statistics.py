# SPDX-License-Identifier: BSD-2-Clause
"""What a run has done and will do."""
from __future__ import annotations

import dataclasses
import html
import re
from collections.abc import Iterable
from typing import Any

from ._named import Named


class Phase(Named):
    """Where a run is."""

    IDLE = 0
    FORWARD = 1
    REVERSE = 2
    DONE = 3


@dataclasses.dataclass(frozen=True, slots=True)
class Statistics:
    """What `Run.statistics` returns: sizes in bytes, times in seconds, of this rank unless "all
    ranks" is said. The members are those of ``anadrome_stats``."""

    steps: int
    """n; -1 while unknown."""
    ranks: int
    """How many there are in the run's communicator."""
    state_bytes: int
    """One state."""
    state_bytes_all_ranks: int
    """One state, all ranks together."""
    memory_bytes: int
    """The budget (option ``memory``)."""
    peak_library_bytes: int
    """Most the library held so far."""
    slots: int
    """States the pool can hold, staging and prefetch included."""
    checkpoint_slots: int
    """Of these, slots the schedule counts on (s of E(n,s))."""
    prefetch_depth: int
    """Reads ahead of need."""
    interval: int
    """Steps between anchors in force; 0: no anchors."""
    anchors: int
    """States meant for disk in this sweep (x_0 included); one that is put there again counts
    again."""
    states_per_write: int
    """States in one disk write: 1 unless states are small."""
    forward_steps_taken: int
    """Steps of all ADVANCE actions handed out and completed."""
    forward_steps_planned: int
    """Total of ADVANCE steps the schedule promises; -1 while not fixed."""
    forward_steps_remaining: int
    """ADVANCE steps still to come; -1 while not known."""
    adjoint_steps_taken: int
    """ADJOINT actions completed."""
    bytes_written: int
    """To disk."""
    bytes_read: int
    """From disk."""
    states_kept: int
    """Into the pool; exchanged fields without a copy."""
    states_restored: int
    """Out of the pool."""
    agreements: int
    """Collective decisions."""
    disk_bytes_reserved_all_ranks: int
    """Length of the state files."""
    seconds_total: float
    """From begin to now, or to DONE."""
    seconds_forward: float
    """From begin to TURN."""
    seconds_adjoint: float
    """From TURN to now, or to DONE."""
    seconds_stalled_write: float
    """The caller waited for a slot that was being written."""
    seconds_stalled_read: float
    """The caller waited for a state that was being read."""
    seconds_copying: float
    """The caller copied states; short copies: estimated."""
    seconds_agreeing: float
    """The caller was in collective decisions."""
    seconds_writing: float
    """In writes; direct: checksums included."""
    seconds_reading: float
    """In reads; direct: checksums included."""
    seconds_checksums: float
    """In checksums; direct: under the two above."""
    seconds_step: float
    """Of a forward step, lately, stalls left out: all steps over their number take more; maximum over ranks; 0: not known."""
    seconds_adjoint_step: float
    """Of an adjoint step, likewise."""
    seconds_write_state: float
    """Measured write of one state, maximum over ranks; 0: not known."""
    seconds_read_state: float
    """Measured read of one state, maximum over ranks; 0: not known."""
    direct_io: int
    """1: O_DIRECT; 0: buffered; -1: no disk."""
    phase: Phase
    """Where the run is."""
    schedule: str
    """The schedule in force."""
    layout: str
    """The file layout in force."""
    transport: str
    """The transport in force."""
    seconds_predicted: float
    """Seconds_total as predicted early in the forward sweep; 0: not."""
    predicted_at_step: int
    """Forward steps done then: 4 % of a long sweep, or later, if the interval changed then."""
    adjoint_guessed: bool
    """True: for want of an earlier sweep of this run, that prediction took an adjoint step for two
    forward steps."""
    anchors_lost: int
    """Restores from disk that failed on some rank: another copy was read, or the steps were run
    again from an earlier state."""
    writes_failed: int
    """Writes that failed on this rank."""
    states_written: int
    """To disk in this sweep, second copies of x_0 included."""
    states_read: int
    """From disk in this sweep."""
    bytes_compressed: int
    """Of states, before they were compressed to bytes_written; 0 without the option `compress`."""
    tolerance: float
    """In force, of a lossy codec; 0: no numbers are changed."""
    gradient_error: float
    """What that, or the drift of undone states, did to the adjoint fields at the end, relative, the largest of
    any (options `probe`, `gradient_error`); 0: not known."""
    passes: int
    """Passes after this sweep."""
    visit_steps_taken: int
    """`Visit` actions completed."""
    seconds_visit_step: float
    """Measured `Visit` on this rank; 0: not known."""
    drift: float
    """Of ``schedule="undo"`` with ``compress="lossy"``: the most that an undone state was from the one
    that was kept, relative to the largest magnitude in the field; 0 otherwise."""

    def as_dict(self) -> dict[str, Any]:
        """The members by name, as ``pandas.DataFrame([run.statistics().as_dict(), ...])`` takes
        them: numbers and texts alone, the phase by its name."""
        members = dataclasses.asdict(self)
        members["phase"] = self.phase.name
        return members

    def __str__(self) -> str:
        return "\n".join(f"{name} = {value}" for name, value in self.as_dict().items())

    def _repr_html_(self) -> str:
        return as_table(self.as_dict().items())

    @classmethod
    def _of(cls, members: dict[str, Any]) -> Statistics:
        members["phase"] = Phase(members["phase"])
        members["adjoint_guessed"] = bool(members["adjoint_guessed"])
        return cls(**members)


def as_table(rows: Iterable[tuple[str, Any]]) -> str:
    """A table of two columns, as HTML."""
    cells = "".join(f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
                    f"<td style='text-align:left'>{html.escape(str(value))}</td></tr>"
                    for name, value in rows)
    return f"<table>{cells}</table>"


class Summary(str):
    """The summary of a sweep: a text, which a notebook shows as a table."""

    __slots__ = ()

    def rows(self) -> list[tuple[str, str]]:
        """Its lines, each with its label; "" is that of a line without one."""
        found = []
        for line in self.splitlines():
            label = re.match(r"  ([a-z]+(?: [a-z]+)?) {2,}(.*)", line)
            found.append((label[1], label[2]) if label else ("", line.strip()))
        return found

    def _repr_html_(self) -> str:
        return as_table(self.rows())
