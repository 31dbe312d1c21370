# SPDX-License-Identifier: BSD-2-Clause
"""The gradient of a simulation by its initial state, in one call."""
from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional, Union, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arguments import count
from ._check import GradientCheck
from ._errors import Error, Status, describe
from ._ranks import OneProcess, ranks_of
from ._run import Run
from ._settings import Setting

if TYPE_CHECKING:
    from mpi4py import MPI

Array = NDArray[Any]
Step = Callable[..., Optional[Array]]
AdjointStep = Callable[..., Optional[Array]]
Objective = Callable[[Array], tuple[float, ArrayLike]]
Observe = Callable[[Array, int], Optional[tuple[float, ArrayLike]]]


def _assign(name: str, array: Array, new: ArrayLike) -> None:
    """What function `name` returned; numpy would stretch it, and cut an imaginary part off."""
    values = np.asarray(new)
    if isinstance(new, np.ma.MaskedArray):
        raise TypeError(f"{name} returned a MaskedArray, whose mask would be lost; return .filled()")
    if values.shape != array.shape or not np.can_cast(values.dtype, array.dtype, "same_kind"):
        raise TypeError(f"{name} returned shape {values.shape} of {values.dtype}; "
                        f"shape {array.shape} of {array.dtype} is needed")
    array[...] = values


def _two(name: str, returned: object) -> tuple[float, ArrayLike]:
    """The value and the derivative that function `name` returned."""
    if isinstance(returned, tuple) and len(returned) == 2:
        value, derivative = returned
        return value, derivative
    raise TypeError(f"{name} returned {type(returned).__name__}; a tuple of the value and its "
                    "derivative by the state is needed, e.g. (J, dJ)")


def _numbers(values: ArrayLike) -> Array:
    """A copy, of real or complex numbers."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError("a MaskedArray would lose its mask; fill it, e.g. x0.filled(0)")
    array = np.array(values, order="C")
    return array if array.dtype.kind in "fc" else array.astype(np.float64)


def _read_only(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view


class _Problem:
    """The arrays and functions of a model that is given by a step and its adjoint."""

    def __init__(self, step: Step, adjoint_step: AdjointStep, x0: ArrayLike, steps: int,
                 objective: Optional[Objective], observe: Optional[Observe],
                 parameters: Optional[ArrayLike], undo: Optional[Step]) -> None:
        if objective is None and observe is None:
            raise TypeError("give objective, observe or both")
        self.step, self.adjoint_step = step, adjoint_step
        self.objective, self.observe = objective, observe
        self.undo = None if undo is None else self.undo_one
        self.given_undo = undo
        self.u = _numbers(x0)
        self.lam = np.zeros_like(self.u)
        self.p = None
        if parameters is not None:  # as fine as the state: a perturbation must not be rounded away
            self.p = _numbers(parameters)
            self.p = self.p.astype(np.promote_types(self.p.dtype, np.finfo(self.u.dtype).dtype))
        # What a function must not change: a state would be another one, and so would the model.
        self.to_read, self.p_to_read = _read_only(self.u), None if self.p is None else _read_only(self.p)
        self.unwritten, self.had_lam, self.saw = ["lam", "by_p"], False, False
        self.by_p = np.zeros_like(self.p if self.p is not None else np.zeros(0))
        self.steps = count("steps", steps)
        # The terms of the objective, by step, in the forward sweep, and how many of them are there:
        # a state of a step that is run again may be rounded. The last one is that of x_n. Fields,
        # so that resume=on restores them.
        self.terms = np.zeros(1 if observe is None else max(self.steps, 0) + 1)
        self.noted = np.zeros(1, np.int64)
        self.start, self.own_start = np.zeros(1, np.int64), 0

    def note_start(self, ranks: Union[MPI.Comm, OneProcess]) -> None:
        """What the run begins with on all ranks, in a field: resume=on brings that of the run before."""
        parts = [self.u.tobytes()] + ([] if self.p is None else [self.p.tobytes()])
        own = hashlib.blake2b(b"".join(parts), digest_size=6, salt=str(ranks.Get_rank()).encode())
        self.own_start = ranks.allreduce(int.from_bytes(own.digest(), "little"))
        self.start[0] = self.own_start

    def register(self, run: Run) -> None:
        run.state(u=self.u)
        run.adjoint(lam=self.lam, objective=self.terms)
        if self.p is not None:
            run.adjoint(by_parameters=self.by_p)

    @property
    def value(self) -> float:
        return float(self.terms.sum())

    def observed(self, k: int) -> Optional[tuple[float, ArrayLike]]:
        returned = None if self.observe is None else self.observe(self.to_read, k)
        if returned is None:
            return None
        self.saw = True
        return _two("observe", returned)

    def note(self, k: int) -> None:
        term = self.observed(k)
        _assign("observe", self.terms[k:k + 1], np.reshape(0.0 if term is None else term[0], 1))

    def add(self, derivative: ArrayLike, name: str) -> None:
        added = np.zeros_like(self.lam)
        _assign(name, added, derivative)
        self.lam += added

    def require_same_start(self) -> None:
        """Before a function is called: ranks that exchange messages in them stay together."""
        if self.start[0] != self.own_start:
            raise ValueError("x0 or parameters are others than in the run that is gone on with: give "
                             "each start a name of its own, or resume=False")

    def advance(self, first: int, last: int) -> None:
        self.require_same_start()
        failure: Optional[Exception] = None
        for k in range(first, last):
            try:
                self.advance_one(k)
            except Exception as error:  # other ranks wait for the messages of the steps that are left
                failure = failure or error
        if failure is not None:
            raise failure

    def advance_one(self, k: int) -> None:
        if self.observe is not None and k >= self.noted[0]:
            self.noted[0] = k + 1
            self.note(k)
        new = self.step(self.u, k) if self.p is None else self.step(self.u, k, self.p_to_read)
        if new is not None and new is not self.u:
            _assign("step", self.u, new)

    def undo_one(self, k: int) -> None:
        assert self.given_undo is not None
        new = self.given_undo(self.u, k) if self.p is None else self.given_undo(self.u, k, self.p_to_read)
        if new is not None and new is not self.u:
            _assign("undo", self.u, new)

    def turn(self, steps: int) -> None:
        self.require_same_start()
        self.lam[...] = 0
        self.by_p[...] = 0
        if self.observe is not None:
            self.note(steps)
            term = self.observed(steps)
            if term is not None:
                self.add(term[1], "observe")
        if self.objective is not None:
            value, derivative = _two("objective", self.objective(self.u))
            last = np.zeros(1)
            _assign("objective", last, np.reshape(value, 1))
            if self.observe is None:
                self.terms[-1] = last[0]
                _assign("objective", self.lam, derivative)
            else:
                self.terms[-1] += last[0]
                self.add(derivative, "objective")

    def adjoint(self, k: int) -> None:
        self.require_same_start()
        more = () if self.p is None else (self.p_to_read, self.by_p)
        before = {name: getattr(self, name).copy() for name in self.unwritten}
        new = self.adjoint_step(self.to_read, self.lam, k, *more)
        if new is not None and new is not self.lam:
            _assign("adjoint_step", self.lam, new)
        if before:
            self.look(new, before)
        term = self.observed(k)
        if term is not None:
            self.add(term[1], "observe")

    def look(self, new: Optional[Array], before: dict[str, Array]) -> None:
        """Until each array was seen to change: names that adjoint_step gives to other arrays are lost."""
        self.had_lam = self.had_lam or bool(before.get("lam", self.lam).any())
        self.unwritten = [name for name in before if np.array_equal(before[name], getattr(self, name))
                          and not (name == "lam" and new is not None)]

    def say_what_was_not_written(self) -> None:
        names = [name for name in self.unwritten if getattr(self, name).size]
        if names and self.had_lam:
            warnings.warn(f"no adjoint_step changed {' or '.join(names)}: `lam = ...` makes another array; write "
                          "lam[...] = ..., or return it, and by_p += ...", RuntimeWarning, stacklevel=3)


def _on_all_ranks(ranks: Union[MPI.Comm, OneProcess], make: Callable[[], _Problem]) -> _Problem:
    """What `make` returns; where it raises on one rank, none goes on."""
    failure: Optional[Exception] = None
    try:
        problem = make()
    except Exception as error:
        failure = error
    reasons = ranks.allgather(None if failure is None else describe(failure))
    if failure is not None:
        raise failure
    for rank, why in enumerate(reasons):
        if why is not None:
            raise Error(f"rank {rank} failed: {why}", Status.ERR_PEER)
    return problem


def _require_same(ranks: Union[MPI.Comm, OneProcess], values: Array, what: str) -> None:
    own = hashlib.blake2b(values.tobytes(), digest_size=8).digest()
    for rank, other in enumerate(ranks.allgather(own)):
        if other != own:
            raise ValueError(f"{what}, and another on rank {rank}; it has to be the same on all ranks")


def _say_that_nothing_was_seen(problem: _Problem) -> None:
    if problem.objective is None and not problem.saw and problem.value == 0:
        warnings.warn(f"observe returned None for each k that it was called with, from 0 to {problem.steps}: "
                      "J and its gradient are 0", RuntimeWarning, stacklevel=3)


def _say_what_is_not_finite(value: float, *gradients: Array) -> None:
    """Nothing else does: the same NaN comes again when a step is run again."""
    bad = [f"{many} of {values.size} numbers of the gradient{' by parameters' if i else ''}"
           for i, values in enumerate(gradients) if (many := int(np.sum(~np.isfinite(values))))]
    where = "adjoint_step, and at the derivative that objective or observe gives"
    if not np.isfinite(value):
        bad.insert(0, f"the objective ({value})")
        where = "x0, step, objective or observe"
    if bad:
        warnings.warn(f"not finite: {' and '.join(bad)}; look at {where}", RuntimeWarning, stacklevel=3)


@overload
def gradient(
    step: Step, adjoint_step: AdjointStep, x0: ArrayLike, steps: int,
    objective: Optional[Objective] = None, *, observe: Optional[Observe] = None,
    parameters: None = None, undo: Optional[Step] = None, comm: Optional[MPI.Comm] = None,
    after: Optional[Callable[[Run], object]] = None, **options: Setting,
) -> tuple[float, Array]: ...


@overload
def gradient(
    step: Step, adjoint_step: AdjointStep, x0: ArrayLike, steps: int,
    objective: Optional[Objective] = None, *, observe: Optional[Observe] = None,
    parameters: ArrayLike, undo: Optional[Step] = None, comm: Optional[MPI.Comm] = None,
    after: Optional[Callable[[Run], object]] = None, **options: Setting,
) -> tuple[float, Array, Array]: ...


def gradient(
    step: Step,
    adjoint_step: AdjointStep,
    x0: ArrayLike,
    steps: int,
    objective: Optional[Objective] = None,
    *,
    observe: Optional[Observe] = None,
    parameters: Optional[ArrayLike] = None,
    undo: Optional[Step] = None,
    comm: Optional[MPI.Comm] = None,
    after: Optional[Callable[[Run], object]] = None,
    **options: Setting,
) -> Union[tuple[float, Array], tuple[float, Array, Array]]:
    """Compute the objective of a simulation and its gradient by x_0 and parameters. Collective.

    Parameters
    ----------
    step : callable
        ``step(u, k)`` takes x_k to x_{k+1}: in place, or it returns the new array.
    adjoint_step : callable
        ``adjoint_step(u, lam, k)`` takes the adjoint variable of x_{k+1} to that of x_k: in place,
        or it returns the new array. ``u`` holds x_k, and cannot be written to.
    x0 : array_like
        x_0, this rank's part. It is copied.
    steps : int
        The number of steps.
    objective : callable, optional
        ``objective(u)`` returns J(x_n), the same on all ranks, and dJ/dx_n, this rank's part.
    observe : callable, optional
        ``observe(u, k)`` returns J_k(x_k), the same on all ranks, and dJ_k/dx_k, this rank's part;
        or None where nothing is observed. It is called for each k from 0 to n, more than once. J is
        the sum of what it returned first, and of ``objective``: one of the two is needed.
    parameters : array_like, optional
        Numbers that the steps read, the same on all ranks. The functions then are ``step(u, k, p)``
        and ``adjoint_step(u, lam, k, p, by_p)``, which adds the derivative of the step by them,
        transposed, times ``lam`` (that of x_{k+1}) to ``by_p``: this rank's part of it. ``p`` cannot
        be written to.
    undo : callable, optional
        ``undo(u, k)``, or ``undo(u, k, p)``, takes x_{k+1} back to x_k, up to rounding: in place, or it
        returns the new array. For ``schedule="undo"``; without it ``step`` is called several times.
    comm : mpi4py.MPI.Comm, optional
        The ranks; ``MPI.COMM_WORLD`` by default, and this process in a build without MPI.
    after : callable, optional
        ``after(run)`` is called with the run, which is closed: for `Run.summary` and `Run.statistics`.
    **options
        As `Run` takes them: ``report="-"`` prints the summary.

    Returns
    -------
    J : float
        The objective.
    gradient : numpy.ndarray
        dJ/dx_0, of the shape of ``x0``.
    by_parameters : numpy.ndarray
        Only with ``parameters``: dJ/dp, of their shape, summed over the ranks.

    Raises
    ------
    Error
        As `Run.sweep`. An exception of a function ends the sweep on every rank, and is raised again
        where it was. The functions go on being called until the ranks agree, so that ranks that
        exchange messages in them stay together.
    ValueError
        The objective or ``parameters`` differ between ranks. With ``resume=True``: ``x0`` or
        ``parameters`` are not those of the run that was killed.

    Warns
    -----
    RuntimeWarning
        Numbers of the objective or of the gradient are not finite; it says which. No adjoint
        step changed ``lam``, or ``by_p``. ``observe`` returned None for each k.

    Examples
    --------
    >>> import anadrome, numpy as np
    >>> def step(u, k):
    ...     u *= 1.01
    >>> def adjoint_step(u, lam, k):
    ...     lam *= 1.01
    >>> def objective(u):
    ...     return 0.5 * np.dot(u, u), u
    >>> J, gradient = anadrome.gradient(step, adjoint_step, [1.0, 2.0], 100, objective)
    >>> print(round(J, 4), gradient.round(4))
    18.29 [ 7.316 14.632]

    A parameter, and observations of all states:

    >>> def step(u, k, p):
    ...     u *= 1 + p[0]
    >>> def adjoint_step(u, lam, k, p, by_p):
    ...     by_p[0] += np.dot(u, lam)
    ...     lam *= 1 + p[0]
    >>> def observe(u, k):
    ...     return 0.5 * np.dot(u, u), u
    >>> J, gradient, by_p = anadrome.gradient(step, adjoint_step, [1.0, 2.0], 3, observe=observe,
    ...                                       parameters=[0.01])
    >>> print(round(J, 4), gradient.round(4), by_p.round(4))
    10.3056 [4.1222 8.2444] [31.1182]
    """
    ranks = ranks_of(comm)
    problem = _on_all_ranks(ranks, lambda: _Problem(step, adjoint_step, x0, steps, objective, observe,
                                                    parameters, undo))
    _require_same(ranks, np.zeros(0) if problem.p is None else problem.p,
                  f"parameters: {'none' if problem.p is None else 'one array'} here")
    if options.get("resume") in (True, "on"):
        options.setdefault("problem", "gradient")  # which compares x0 and parameters itself
    problem.note_start(ranks)  # all ranks are here: a Run may fail on some, and ends on all
    with Run(comm, **options) as run:
        problem.register(run)
        run.adjoint(x_0=problem.start, noted=problem.noted)
        run.solve(steps, advance=problem.advance, adjoint=problem.adjoint, turn=problem.turn,
                  undo=problem.undo)
    _require_same(ranks, np.array(problem.value), f"objective or observe: {problem.value} here")
    by_parameters = np.empty_like(problem.by_p)
    ranks.Allreduce(problem.by_p, by_parameters)
    # What may raise on one rank, as a warning that is an error does, comes when no rank waits.
    if after is not None:
        after(run)
    problem.say_what_was_not_written()
    _say_that_nothing_was_seen(problem)
    if problem.p is None:
        _say_what_is_not_finite(problem.value, problem.lam)
        return problem.value, problem.lam
    _say_what_is_not_finite(problem.value, problem.lam, by_parameters)
    return problem.value, problem.lam, by_parameters


def check_gradient(
    step: Step,
    adjoint_step: AdjointStep,
    x0: ArrayLike,
    steps: int,
    objective: Optional[Objective] = None,
    *,
    observe: Optional[Observe] = None,
    parameters: Optional[ArrayLike] = None,
    undo: Optional[Step] = None,
    comm: Optional[MPI.Comm] = None,
    mask: Optional[Callable[[Array], object]] = None,
    seeds: int = 0,
    epsilon: float = 0,
    product_steps: int = 0,
    report: str = "",
    **options: Setting,
) -> GradientCheck:
    """Check an adjoint: Taylor tests of `gradient`, dot products of single steps. Collective.

    Parameters
    ----------
    step, adjoint_step, x0, steps, objective, observe, parameters, undo, comm, **options
        As for `gradient`.
    report : str, optional
        Where rank 0 writes the report of the check: ``"-"`` (standard output) or a file.
    mask : callable, optional
        ``mask(array)`` sets to zero what is part of the array and of no state, such as halos that a
        step fetches before it reads them.
    seeds : int, optional
        Directions; 0: three.
    epsilon : float, optional
        The largest perturbation; 0: 0.01, in single precision 0.1.
    product_steps : int, optional
        How many steps have their products tested; 0: 32.

    Returns
    -------
    GradientCheck
        A wrong gradient is what it says, and no exception.

    Examples
    --------
    >>> import anadrome, numpy as np
    >>> def step(u, k):
    ...     u -= 0.01 * u ** 3
    >>> def adjoint_step(u, lam, k):
    ...     lam *= 1 - 0.02 * u ** 2  # should be 0.03
    >>> def objective(u):
    ...     return 0.5 * np.dot(u, u), u
    >>> check = anadrome.check_gradient(step, adjoint_step, np.linspace(1, 2, 9), 50, objective)
    >>> check.verdict.name, check.failing_products, check.failing_step
    ('WRONG', 32, 0)
    """
    ranks = ranks_of(comm)
    problem = _on_all_ranks(ranks, lambda: _Problem(step, adjoint_step, x0, steps, objective, observe,
                                                    parameters, undo))
    controls = [problem.u] if problem.p is None else [problem.u, problem.p]
    starts = [control.copy() for control in controls]

    def direction(seed: int, i: int) -> Array:
        start = starts[i]
        size = float(np.sqrt(np.mean(np.abs(start) ** 2))) if start.size else 0.0
        # Parameters are the same on all ranks.
        random = np.random.default_rng([seed, ranks.Get_rank()] if i == 0 else [seed])
        values: Array = random.standard_normal(start.shape) * (size or 1.0)
        return values.astype(start.dtype)

    def perturb(seed: int, epsilon: float) -> None:
        problem.noted[0] = 0
        for i, control in enumerate(controls):
            control[...] = starts[i] + epsilon * direction(seed, i) if epsilon else starts[i]

    def derivative(seed: int) -> float:
        parts = zip((problem.lam, problem.by_p), range(len(controls)))
        return float(ranks.allreduce(sum(np.vdot(part, direction(seed, i)).real
                                         for part, i in parts)))

    def mask_both() -> None:
        if mask is not None:
            mask(problem.u)
            mask(problem.lam)

    with Run(comm, **options) as run:
        problem.register(run)
        return run.check_gradient(
            steps, advance=problem.advance, adjoint=problem.adjoint, turn=problem.turn, undo=problem.undo,
            perturb=perturb, objective=lambda: problem.value, derivative=derivative,
            mask=None if mask is None else mask_both, pairs={"u": "lam"}, seeds=seeds,
            epsilon=epsilon, product_steps=product_steps, report=report)
