# SPDX-License-Identifier: BSD-2-Clause
"""States of a time-dependent simulation, given back in reverse.

A forward simulation computes states x_0 .. x_n, and its adjoint reads them in falling order. The
library keeps them within a memory budget on every rank, on disk and by recomputing; the gradient is
bit for bit the one with every state kept. `Run` has an example; `gradient` is the short way.
"""
from ._actions import Action, Adjoint, Advance, Retreat, Start, Turn, Visit
from ._check import GradientCheck, Mismatch, Verdict
from ._core import version as _version
from ._errors import Error, OutOfMemoryError, Status, StorageError
from ._gradient import check_gradient, gradient
from ._log import set_log
from ._plan import Plan, PlannedMemory, PlannedSchedule, plan
from ._progress import Progress, ProgressBar
from ._run import Resumed, Run, Sweep
from ._schedule import Drop, Keep, Read, Restore, Schedule, ScheduleAction, Write, schedule
from ._sketch import Sketch
from ._statistics import Phase, Statistics, Summary
from ._store import Store, StoreStatistics
from ._timeline import Picture, timeline

__version__ = _version()

__all__ = [
    "Action", "Adjoint", "Advance", "Error", "GradientCheck", "Mismatch", "OutOfMemoryError",
    "Phase", "Picture", "Plan", "PlannedMemory", "PlannedSchedule", "Progress", "ProgressBar", "Resumed", "Run", "Sketch",
    "Retreat", "Start", "Statistics", "Status", "StorageError", "Store", "StoreStatistics", "Summary", "Sweep", "Turn", "Verdict",
    "Visit", "check_gradient", "gradient", "plan", "set_log", "timeline",
    "Drop", "Keep", "Read", "Restore", "Schedule", "ScheduleAction", "Write", "schedule",
]
