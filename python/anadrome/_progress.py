# SPDX-License-Identifier: BSD-2-Clause
"""How far a sweep is, for a function of the caller's."""
from __future__ import annotations

import contextlib
import importlib
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Optional

from ._statistics import Phase

_PERIOD = 0.1  # seconds between two calls


class Progress(NamedTuple):
    """What the function of ``Run(progress=function)`` gets, on rank 0, ten times a second at most."""

    phase: Phase
    """``FORWARD`` or ``REVERSE``; ``DONE`` in the last call of a sweep."""
    step: int
    """Steps that were run at least once, or are not yet adjoined."""
    steps: Optional[int]
    """n; None while it is not known."""
    done: Optional[float]
    """Of the work of the whole sweep, 0 to 1, never less than before; None while n is not known."""


class Reporter:
    """Calls `function` where it is time to."""

    def __init__(self, function: Callable[[Progress], object],
                 statistics: Callable[[], dict[str, Any]]) -> None:
        self._function, self._statistics = function, statistics
        self._next = self._most = 0.0
        self._taken = 0

    def look(self, step: int) -> None:
        """After an action at `step`."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _PERIOD
            self._function(self._now(step))

    def end(self) -> None:
        """At the end of a sweep."""
        known = self._statistics()
        self._next, self._taken = 0.0, 0
        self._function(Progress(Phase.DONE, 0, known["steps"], 1.0))

    def _now(self, step: int) -> Progress:
        known = self._statistics()
        phase, steps = Phase(known["phase"]), known["steps"]
        left = known["forward_steps_remaining"]
        if steps < 0 or left < 0:
            return Progress(phase, step, steps if steps >= 0 else None, None)
        # An adjoint step as long as two forward steps, until it is known.
        forward = known["seconds_step"] or 1.0
        adjoint = known["seconds_adjoint_step"] or 2.0 * forward
        taken = known["adjoint_steps_taken"]
        done = forward * known["forward_steps_taken"] + adjoint * taken
        to_come = forward * left + adjoint * (steps - taken)
        # What steps take is known better and better: that alone is no way back.
        before, self._taken = self._taken, known["forward_steps_taken"] + taken
        self._most = 0.0 if self._taken < before or not before else self._most
        self._most = max(self._most, done / (done + to_come) if done + to_come > 0 else 1.0)
        return Progress(phase, step, steps, self._most)


class ProgressBar:
    """A progress bar for ``Run(progress=anadrome.ProgressBar())``: by tqdm if it is there, which
    notebooks show as a widget, and otherwise a line on `sys.stderr`.

    Examples
    --------
    >>> import anadrome
    >>> run = anadrome.Run(progress=anadrome.ProgressBar())
    >>> run.close()
    """

    def __init__(self) -> None:
        self._bar: Any = None
        self._tqdm: Any = None
        with contextlib.suppress(ImportError):
            self._tqdm = importlib.import_module("tqdm.auto").tqdm

    def __call__(self, now: Progress) -> None:
        """Show `now`."""
        what = f"{now.phase.name.lower()} {now.step}"
        percent = round(100 * (now.done or 0), 1)
        if self._tqdm is None:
            end = "\n" if now.phase == Phase.DONE else ""
            print(f"\r{percent:5.1f} %  {what:24}", end=end, file=sys.stderr, flush=True)
            return
        if self._bar is None:
            self._bar = self._tqdm(total=100, unit="%")
        self._bar.set_description(what, refresh=False)
        self._bar.update(percent - self._bar.n)
        if now.phase == Phase.DONE:
            self._bar.close()
            self._bar = None
