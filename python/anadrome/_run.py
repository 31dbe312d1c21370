# SPDX-License-Identifier: BSD-2-Clause
"""One forward sweep and the adjoint sweeps back through it."""
from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Optional

from . import _core
from ._actions import Action, Advance
from ._arguments import count, counts, function, number, numbers, text
from ._check import GradientCheck
from ._errors import Error, Status, describe
from ._interrupt import Interrupt
from ._patience import waiting_for_others
from ._progress import Reporter
from ._ranks import ranks_of
from ._report import Report
from ._settings import Setting, text_of
from ._statistics import Phase, Statistics, Summary

if TYPE_CHECKING:
    from mpi4py import MPI

_STATE, _TAPE, _ADJOINT = range(3)  # anadrome_role
_UNKNOWN, _NO_NUMBER = -1, -2  # ANADROME_STEPS_UNKNOWN, and what is refused
_FORWARD, _REVERSE = 1, 2  # anadrome_direction
# A rank that failed passes actions over until the ranks agree. In a sweep of unknown length that
# may be at its end only, which this rank would never reach: after so many it ends the sweep.
_MOST_PASSED_OVER = 1000


def _functions(**functions: Optional[Callable[..., object]]) -> dict[str, object]:
    """Each can be called, or is None."""
    return {name: None if given is None else function(name, given)
            for name, given in functions.items()}


class Resumed(NamedTuple):
    """Where a run with ``resume=on`` goes on."""

    phase: Phase
    """``Phase.FORWARD``: the state arrays hold x_step, the adjoint arrays what they held when that
    was reached. ``Phase.REVERSE``: the steps from ``step`` on are adjoined, the adjoint arrays hold
    what they held then, and `Turn` does not come again."""
    step: int
    """Which state, or which step."""


class Sweep(Iterator[Action]):
    """The actions of one sweep or pass, in order; `Run.sweep`, `Run.rewind`,
    `Run.forward_pass` and `Run.reverse_pass` make it. It is used once."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._next = run._core.next
        self._done = False

    def __iter__(self) -> Sweep:
        return self

    def __next__(self) -> Action:
        if self._run._current is not self:
            self._refuse()
        try:
            action = self._next()
        except BaseException as error:
            self._run._end_of_call(error)
            raise
        if action is None:
            self._done = True
            self._run._current = None
            self._run._end_of_sweep()
            raise StopIteration
        if self._run._reporter is not None:
            self._run._reporter.look(getattr(action, "first", getattr(action, "step", 0)))
        return action

    def _refuse(self) -> None:
        if self._done:
            raise StopIteration
        raise Error("this sweep was ended by a later call of its run", Status.ERR_ORDER)


class Run:
    """One forward sweep and the adjoint sweep(s) back through it, on all ranks of a communicator.

    Use it in a ``with`` block, which closes it. Where an exception leaves the block on some rank,
    the sweep ends on every rank at the next agreement: there with an `Error` of status
    ``ERR_PEER`` that names the rank and the exception, here with the exception itself.
    Collective, as are `sweep`, `rewind`, `forward_pass`, `reverse_pass`, `solve`,
    `check_gradient` and `close`: all ranks call them in the same order. A run is used by one thread at a time. The GIL is
    released while they wait.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, optional
        Its ranks; ``MPI.COMM_WORLD`` by default, and this process in a build without MPI. It is
        duplicated, and may be freed afterwards.
    **options
        Options, such as ``memory="8GiB"``, as `set` takes them.

    Raises
    ------
    Error
        ``ERR_ARGUMENT``: an option that does not exist, or a bad value.

    Examples
    --------
    The gradient of ``sum(u_n ** 2) / 2`` by u_0, for ``u_{k+1} = u_k + dt u_k (1 - u_k)``:

    >>> import anadrome, numpy as np
    >>> from mpi4py import MPI
    >>> dt, u, lam = 1e-3, np.linspace(0.1, 0.9, 5), np.zeros(5)
    >>> with anadrome.Run(MPI.COMM_SELF, memory="64KiB", schedule="revolve") as run:
    ...     run.state(u=u)
    ...     run.adjoint(lam=lam)
    ...     for action in run.sweep(1000):
    ...         match action:
    ...             case anadrome.Advance(first, last):
    ...                 for k in range(first, last):
    ...                     u += dt * u * (1 - u)
    ...             case anadrome.Turn():
    ...                 lam[:] = u
    ...             case anadrome.Adjoint(k):
    ...                 lam *= 1 + dt * (1 - 2 * u)
    >>> print(lam.round(4))
    [0.4591 0.637  0.5751 0.4839 0.4026]
    """

    def __init__(self, comm: Optional[MPI.Comm] = None, **options: Setting) -> None:
        self._current: Optional[Sweep] = None
        self._last: Optional[Statistics] = None  # of a closed run
        self._steps_known = True
        ranks = ranks_of(comm)
        self._core = _core.Run(ranks)
        self._rank, self._ranks = ranks.Get_rank(), ranks.Get_size()
        self._reporter: Optional[Reporter] = None
        try:
            self._interrupt = Interrupt(self._core.request_stop)
            self._report = Report(self._core.set, root=self._rank == 0)
            self.set(**options)
        except BaseException:
            with contextlib.suppress(Error):  # other ranks may have no such failure
                self._core.close()
            raise

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        value: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if value is None:
            self.close()
        else:
            self._leave(value)

    def __del__(self) -> None:
        if hasattr(self, "_report") and not self.closed:
            # Closing is collective, and this may be any thread at any time.
            self._report.close()
            warnings.warn(f"{self!r} was not closed; use `with`", ResourceWarning, source=self)

    def __repr__(self) -> str:
        return f"<anadrome.Run {'closed' if self.closed else 'open'}, {self._ranks} ranks>"

    # ---- before a sweep ----

    def set(self, **options: Setting) -> None:
        """Set options; they hold from the next sweep on. Local, but all ranks set the same.

        Parameters
        ----------
        **options
            A value is a text (``memory="8GiB"``), a number (``checkpoints=20``), a truth value
            (``keep=True`` is ``on``) or a path (``directory=Path("/scratch")``). ``report="-"``
            prints the summary to `sys.stdout`. ``progress`` may be a function of a `Progress`, such
            as a `ProgressBar`, which rank 0 calls.

        Raises
        ------
        Error
            ``ERR_ARGUMENT``: no such option (the nearest one is named), or a bad value.
            ``ERR_ORDER``: a sweep is under way.
        """
        for key, value in options.items():
            if key == "progress":
                self._reporter = None
                if callable(value):
                    if self._rank == 0:
                        self._reporter = Reporter(value, self._core.statistics)
                    value = False
            words = text_of(value)
            if key == "report":
                self._report.want(words)
            else:
                self._core.set(key, words)

    def on_stream(self, stream: Optional[int]) -> None:
        """The stream that writes and reads the fields on a device that are registered from here on. Local.

        Parameters
        ----------
        stream : int or None
            As the array API standard numbers it: the address of a stream, such as ``torch.cuda.current_stream().cuda_stream``
            or ``cupy.cuda.get_current_stream().ptr``; ``None``, 0 or 1 for the default one.
        """
        self._core.set_stream(stream)

    def state(self, **arrays: object) -> None:
        """Register arrays that make up the state: all that a step needs to go on.

        Local; all ranks register the same names and types in the same order, with sizes of their
        own, 0 included. The run holds a reference to each array, and reads and writes its memory
        between actions, until it is closed.

        Parameters
        ----------
        **arrays
            Objects with the buffer protocol or DLPack by field name, such as numpy arrays, or arrays of torch and cupy on
            the host or on a device (see `on_stream`): writable, C-contiguous, of float32, float64, complex64, complex128,
            int32, int64 or bytes.

        Raises
        ------
        TypeError
            An array is not like that; the text names the field and the cure.
        Error
            ``ERR_ARGUMENT``: a name that is taken, or is none. ``ERR_ORDER``: a sweep is under way.
        """
        self._add(_STATE, arrays)

    def tape(self, **arrays: object) -> None:
        """Register arrays that hold what the adjoint of one step needs; a step that is recorded
        fills them. As `state`."""
        self._add(_TAPE, arrays)

    def adjoint(self, **arrays: object) -> None:
        """Register adjoint variables and what gradients are summed up in. They are never
        recomputed; `check_gradient` and ``resume=on`` need them. As `state`."""
        self._add(_ADJOINT, arrays)

    def _add(self, role: int, arrays: Mapping[str, object]) -> None:
        for name, array in arrays.items():
            self._core.add_array(name, role, array)

    def packed(
        self,
        name: str,
        size: int,
        pack: Callable[[memoryview], object],
        unpack: Callable[[memoryview], object],
        *,
        role: Literal["state", "tape", "adjoint"] = "state",
    ) -> None:
        """Register a field that is no array: an object, an array on a GPU. Local; as `state`.

        Parameters
        ----------
        name : str
            The name of the field.
        size : int
            Its bytes.
        pack, unpack : callable
            ``pack(buffer)`` writes the field into a writable memoryview of ``size`` bytes,
            ``unpack(buffer)`` reads it from one. They copy, and keep no view of the buffer. They
            are called between actions, in the thread of the run, and may communicate only if every
            rank does.
        role : {"state", "tape", "adjoint"}
            What the field is for.
        """
        roles = {"state": _STATE, "tape": _TAPE, "adjoint": _ADJOINT}
        if role not in roles:
            raise ValueError(f"role must be one of {', '.join(roles)}, not {role!r}")
        self._core.add_packed(text("name", name), roles[role], self._bytes("size", size),
                              function("pack", pack), function("unpack", unpack))

    def varying(
        self,
        name: str,
        most: int,
        size: Callable[[], int],
        pack: Callable[[memoryview], object],
        unpack: Callable[[memoryview], object],
    ) -> None:
        """Register a state field whose size changes, as on an adaptive mesh. Local; as `packed`.

        Parameters
        ----------
        most : int
            The most bytes that it takes.
        size : callable
            ``size()`` is how many bytes it takes now. ``pack`` gets a buffer of so many, and
            ``unpack`` one of as many as were packed.
        """
        self._core.add_varying(text("name", name), self._bytes("most", most),
                               function("size", size), function("pack", pack),
                               function("unpack", unpack))

    def tolerance(self, name: str, absolute: float) -> None:
        """Say by how much lossy compression may change each number of a field. Local.

        Parameters
        ----------
        name : str
            The field.
        absolute : float
            The most by which a number may be changed, in place of what the option tolerance
            says. 0: not at all.
        """
        self._core.set_tolerance(text("name", name), number("absolute", absolute))

    # ---- sweeps ----

    def sweep(self, steps: Optional[int]) -> Sweep:
        """Begin a forward sweep; iterate over what it returns, and carry out each action.

        x_0 is what the arrays hold when the first action is asked for. Collective. A sweep that is
        under way is abandoned.

        Parameters
        ----------
        steps : int or None
            The number of steps. None: not known; call `finish_forward` when the end is reached.

        Raises
        ------
        Error
            ``ERR_ARGUMENT``: options, fields or steps that differ between ranks, or overlap.
            ``ERR_MEMORY`` (the text says how much is needed), ``ERR_IO``, ``ERR_NO_SPACE``,
            ``ERR_BUSY``, ``ERR_UNSUPPORTED``, ``ERR_PEER``.
        KeyboardInterrupt
            While iterating, at an agreement after Ctrl-C; other ranks get ``Status.STOPPED``.
        """
        self._begin_steps(steps, self._core.begin)
        return self._new_sweep()

    def rewind(self) -> Sweep:
        """Start another reverse sweep over the same forward sweep, after the end of one: states
        that are still kept are used, others recomputed, and `Turn` comes again. Collective."""
        self._begin(self._core.rewind)
        return self._new_sweep()

    def forward_pass(self) -> Sweep:
        """Begin another pass over the trajectory that was swept, from its first step to its last, as
        for a tangent-linear model: `Visit` of every step, and between them `Advance` with ``again``
        where a state is not kept. Any number of passes may follow a sweep; the option ``passes``
        says how many to expect. Collective.

        Examples
        --------
        The product of a Gauss-Newton Hessian with ``v``, for ``u_{k+1} = u_k + dt u_k (1 - u_k)`` and
        ``sum(u_n ** 2) / 2``:

        >>> import anadrome, numpy as np
        >>> from mpi4py import MPI
        >>> dt, u, v = 1e-3, np.linspace(0.1, 0.9, 5), np.ones(5)
        >>> def step(first, last):
        ...     for k in range(first, last):
        ...         u[:] += dt * u * (1 - u)
        >>> with anadrome.Run(MPI.COMM_SELF, schedule="store_all", passes=2) as run:
        ...     run.state(u=u)
        ...     run.solve(1000, advance=step, adjoint=lambda k: None)
        ...     for action in run.forward_pass():
        ...         match action:
        ...             case anadrome.Advance(first, last):
        ...                 step(first, last)
        ...             case anadrome.Visit():
        ...                 v *= 1 + dt * (1 - 2 * u)
        ...     for action in run.reverse_pass():
        ...         match action:
        ...             case anadrome.Advance(first, last):
        ...                 step(first, last)
        ...             case anadrome.Adjoint():
        ...                 v *= 1 + dt * (1 - 2 * u)
        >>> print(v.round(4))
        [3.9182 1.4015 0.6187 0.3138 0.1756]
        """
        self._begin(lambda: self._core.pass_(_FORWARD))
        return self._new_sweep()

    def reverse_pass(self) -> Sweep:
        """The same back, as for an adjoint: a `Turn` with ``again``, at which the arrays do not hold
        x_n, and `Adjoint` of every step in falling order. Collective."""
        self._begin(lambda: self._core.pass_(_REVERSE))
        return self._new_sweep()

    def finish_forward(self, steps: int) -> None:
        """Say, while an `Advance` of a sweep of unknown length is carried out, that the sweep ends
        after ``steps`` steps in all. All ranks say the same."""
        self._core.finish_forward(count("steps", steps))

    @property
    def resumed(self) -> Optional[Resumed]:
        """Where the sweep goes on, with ``resume=on``; None: at x_0. A program with ``resume=on``
        asks after every `sweep`, and does not set these arrays where it goes on."""
        phase, step = self._core.resumed()
        return None if phase == Phase.IDLE else Resumed(Phase(phase), step)

    def solve(
        self,
        steps: Optional[int],
        *,
        advance: Callable[[int, int], Optional[int]],
        adjoint: Callable[[int], object],
        turn: Optional[Callable[[int], object]] = None,
        record: Optional[Callable[[int], Optional[int]]] = None,
        start: Optional[Callable[[], object]] = None,
        undo: Optional[Callable[[int], object]] = None,
    ) -> None:
        """Run a whole sweep with functions in place of a loop. Collective.

        An exception in one of them ends the sweep on every rank, and is raised again here; until
        the next agreement the functions are still called, for ranks that exchange messages in them
        to stay together.

        Parameters
        ----------
        steps : int or None
            The number of steps; None: not known.
        advance : callable
            ``advance(first, last)`` runs steps first .. last-1. With unknown steps it returns
            n < last when the sweep ends after n steps.
        adjoint : callable
            ``adjoint(k)``: the adjoint of step k.
        turn : callable, optional
            ``turn(n)``: the objective, and the terminal condition of the adjoint.
        record : callable, optional
            ``record(k)``: step k, which fills the tape fields. Required if there are some.
        start : callable, optional
            ``start()`` writes x_0.
        undo : callable, optional
            ``undo(k)`` undoes step k, up to rounding, for ``schedule="undo"``. Without it ``advance``
            is called there several times instead.
        """
        functions = _functions(advance=self._watched(advance), adjoint=self._watched(adjoint),
                               turn=turn, record=record, start=start, undo=undo)
        self._current = None
        self._begin_steps(steps, lambda number_of_steps: self._core.solve(number_of_steps, functions))
        self._end_of_sweep()

    def check_gradient(
        self,
        steps: int,
        *,
        advance: Callable[[int, int], object],
        adjoint: Callable[[int], object],
        perturb: Callable[[int, float], object],
        objective: Callable[[], float],
        derivative: Callable[[int], float],
        turn: Optional[Callable[[int], object]] = None,
        record: Optional[Callable[[int], object]] = None,
        start: Optional[Callable[[], object]] = None,
        undo: Optional[Callable[[int], object]] = None,
        mask: Optional[Callable[[], object]] = None,
        pairs: Mapping[str, str] = {},
        seeds: int = 0,
        epsilon: float = 0,
        product_steps: int = 0,
        report: str = "",
    ) -> GradientCheck:
        """Check the gradient that the adjoint computes, in place of `solve`. Collective.

        Taylor tests of the whole sweep, and dot products of single steps; see
        `anadrome.check_gradient` for the short way. The functions of `solve`, and:

        Parameters
        ----------
        perturb : callable
            ``perturb(seed, epsilon)`` sets the controls to m + epsilon dm, dm being the direction
            of number ``seed``; epsilon 0 gives m back, bit for bit.
        objective : callable
            ``objective()``: J at the end of the forward sweep, of all ranks.
        derivative : callable
            ``derivative(seed)``: the gradient times direction ``seed``, of all ranks.
        mask : callable, optional
            ``mask()`` sets to zero what is part of an array and of no state, such as halos.
        pairs : mapping
            Which adjoint field belongs to which state field, ``{"u": "lam"}``; empty: no products.
        seeds, epsilon, product_steps : optional
            Directions (3), the largest perturbation (0.01), steps with products (32).
        report : str
            Where rank 0 writes a report: ``"-"``, or a file.

        Returns
        -------
        GradientCheck
            A wrong gradient is what it says, and no exception.
        """
        functions = _functions(advance=advance, adjoint=adjoint, turn=turn, record=record,
                               start=start, undo=undo)
        settings = dict(
            _functions(perturb=perturb, objective=objective, derivative=derivative, mask=mask),
            pairs=" ".join(f"{state}={adjoint}" for state, adjoint in pairs.items()),
            seeds=count("seeds", seeds), epsilon=number("epsilon", epsilon),
            product_steps=count("product_steps", product_steps), report=text("report", report))
        number_of_steps = count("steps", steps)
        found: list[GradientCheck] = []
        self._current = None
        self._begin(lambda: found.append(
            GradientCheck._of(self._core.check_gradient(number_of_steps, functions, settings))))
        self._interrupt.end()
        return found[0]

    # ---- at any time ----

    def fail(self, why: str) -> None:
        """Say that this rank cannot go on. Local: every rank gets ``ERR_PEER``, with the rank and
        ``why``, at the next agreement; go on with the actions until then."""
        self._core.fail(text("why", why))

    def request_stop(self) -> None:
        """Ask for the sweep to stop: every rank gets ``Status.STOPPED`` at the next agreement; with
        ``resume=on`` once a commit was made. Local; any thread may."""
        self._core.request_stop()

    def statistics(self) -> Statistics:
        """What this rank has done and will do; of a closed run, what it had done. Local."""
        if self._last is not None:
            return self._last
        return Statistics._of(self._core.statistics())

    def summary(self) -> Summary:
        """The summary of the last sweep that came to its end. Local: on rank 0, "" elsewhere."""
        return self._report.text()

    @property
    def closed(self) -> bool:
        """Whether the run is closed."""
        return self._core.closed

    def close(self) -> None:
        """Close the run, remove its files (unless ``keep=on``) and let go of the arrays.
        Collective; nothing to do if it is closed already."""
        self._interrupt.end()
        self._current = None
        if not self._core.closed:
            self._last = self.statistics()
        try:
            self._core.close()
        finally:
            self._report.close()

    # ---- inside ----

    def _watched(self, given: Callable[..., Any]) -> Callable[..., Any]:
        """`given`, and then a look at whether the function of option ``progress`` is to be called."""
        reporter = self._reporter
        if reporter is None or not callable(given):
            return given

        look = reporter.look

        def call(step: int, *more: int) -> Any:
            returned = given(step, *more)
            look(step)
            return returned
        return call

    def _begin_steps(self, steps: Optional[int], call: Callable[[int], object]) -> None:
        """`call` takes the number as C has it, where -1 is an unknown one. One that is none is
        refused on all ranks together."""
        known = _UNKNOWN if steps is None else count("steps", steps)
        self._steps_known = steps is not None
        if steps is None or known >= 0:
            return self._begin(lambda: call(known))
        try:
            self._begin(lambda: call(_NO_NUMBER))
        except Error as error:
            if error.status != Status.ERR_ARGUMENT:
                raise
            raise Error(f"{known} steps; give 0 or more, or None where the number is not known",
                        Status.ERR_ARGUMENT) from None

    @staticmethod
    def _bytes(name: str, value: int) -> int:
        if count(name, value) < 0:
            raise ValueError(f"{name} must be 0 bytes or more, not {value}")
        return count(name, value)

    def _begin(self, call: Callable[[], object]) -> None:
        self._interrupt.watch()
        self._report.stay()
        try:
            call()
        except BaseException as error:
            self._end_of_call(error)
            raise

    def _new_sweep(self) -> Sweep:
        self._current = Sweep(self)
        return self._current

    def _end_of_call(self, error: BaseException) -> None:
        """After a call that raised `error`."""
        if self._under_way():  # a warning that is an error
            return
        self._interrupt.end()
        stopped = isinstance(error, Error) and error.status == Status.STOPPED
        if stopped and self._interrupt.came:
            raise KeyboardInterrupt from error

    def _end_of_sweep(self) -> None:
        self._interrupt.end()
        self._report.take()
        if self._reporter is not None:
            self._reporter.end()
        if self._interrupt.came:  # after the last agreement
            raise KeyboardInterrupt

    def _under_way(self) -> bool:
        if self._core.closed:
            return False
        return self._core.statistics()["phase"] in (Phase.FORWARD, Phase.REVERSE)

    def _leave(self, why: BaseException) -> None:
        """Close after an exception, which goes on from here: others must not hide it."""
        with contextlib.suppress(Exception):
            if self._under_way():
                self._pass_over(describe(why))
        with contextlib.suppress(Exception):
            self.close()

    def _pass_over(self, why: str) -> None:
        """Fail, and go on to the next agreement, where the others hear of it."""
        with waiting_for_others(self._rank, self._ranks, why, "at the next agreement"):
            self._core.fail(why)
            passed_over = 0
            while (action := self._core.next()) is not None:
                passed_over += 1
                if self._steps_known or passed_over < _MOST_PASSED_OVER:
                    continue
                if isinstance(action, Advance) and not action.again:
                    self._core.finish_forward(action.first)
