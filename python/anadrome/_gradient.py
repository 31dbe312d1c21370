# SPDX-License-Identifier: BSD-2-Clause
"""The gradient of a simulation by its initial state, in one call."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
import numpy.typing as npt

from ._check import GradientCheck
from ._run import Run
from ._settings import Setting

if TYPE_CHECKING:
    from mpi4py import MPI

Array = npt.NDArray[Any]
Step = Callable[[Array, int], Optional[Array]]
AdjointStep = Callable[[Array, Array, int], Optional[Array]]
Objective = Callable[[Array], tuple[float, npt.ArrayLike]]


def _assign(name: str, array: Array, new: npt.ArrayLike) -> None:
    """What function `name` returned; numpy would stretch it, and cut an imaginary part off."""
    values = np.asarray(new)
    if values.shape != array.shape or not np.can_cast(values.dtype, array.dtype, "same_kind"):
        raise TypeError(f"{name} returned shape {values.shape} of {values.dtype}; "
                        f"shape {array.shape} of {array.dtype} is needed")
    array[...] = values


class _Problem:
    """The arrays and functions of a model that is given by a step and its adjoint."""

    def __init__(self, step: Step, adjoint_step: AdjointStep, x0: npt.ArrayLike,
                 objective: Objective) -> None:
        self.step, self.adjoint_step, self.objective = step, adjoint_step, objective
        self.u = np.array(x0, order="C")  # a copy
        if self.u.dtype.kind not in "fc":
            self.u = self.u.astype(np.float64)
        self.lam = np.zeros_like(self.u)
        self.value = np.zeros(1)  # of the objective: a field, so that resume=on restores it

    def register(self, run: Run) -> None:
        run.state(u=self.u)
        run.adjoint(lam=self.lam, objective=self.value)

    def advance(self, first: int, last: int) -> None:
        for k in range(first, last):
            new = self.step(self.u, k)
            if new is not None and new is not self.u:
                _assign("step", self.u, new)

    def turn(self, steps: int) -> None:
        value, derivative = self.objective(self.u)
        _assign("objective", self.value, np.reshape(value, 1))
        _assign("objective", self.lam, derivative)

    def adjoint(self, k: int) -> None:
        new = self.adjoint_step(self.u, self.lam, k)
        if new is not None and new is not self.lam:
            _assign("adjoint_step", self.lam, new)


def _world(comm: Optional[MPI.Comm]) -> MPI.Comm:
    if comm is not None:
        return comm
    from mpi4py import MPI
    return MPI.COMM_WORLD


def gradient(
    step: Step,
    adjoint_step: AdjointStep,
    x0: npt.ArrayLike,
    steps: int,
    objective: Objective,
    *,
    comm: Optional[MPI.Comm] = None,
    **options: Setting,
) -> tuple[float, Array]:
    """Compute the objective of a simulation and its gradient with respect to x_0. Collective.

    Parameters
    ----------
    step : callable
        ``step(u, k)`` takes x_k to x_{k+1}: in place, or it returns the new array.
    adjoint_step : callable
        ``adjoint_step(u, lam, k)`` takes the adjoint variable of x_{k+1} to that of x_k: in place,
        or it returns the new array. ``u`` holds x_k; leave it as it is.
    x0 : array_like
        x_0, this rank's part. It is copied.
    steps : int
        The number of steps.
    objective : callable
        ``objective(u)`` returns J(x_n), the same on all ranks, and dJ/dx_n, this rank's part.
    comm : mpi4py.MPI.Comm, optional
        The ranks; ``MPI.COMM_WORLD`` by default.
    **options
        As `Run` takes them.

    Returns
    -------
    J : float
        The objective.
    gradient : numpy.ndarray
        dJ/dx_0, of the shape of ``x0``.

    Raises
    ------
    Error
        As `Run.sweep`. An exception of a function ends the sweep on every rank, and is raised again
        where it was.

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
    """
    problem = _Problem(step, adjoint_step, x0, objective)
    with Run(_world(comm), **options) as run:
        problem.register(run)
        run.solve(steps, advance=problem.advance, adjoint=problem.adjoint, turn=problem.turn)
    return float(problem.value[0]), problem.lam


def check_gradient(
    step: Step,
    adjoint_step: AdjointStep,
    x0: npt.ArrayLike,
    steps: int,
    objective: Objective,
    *,
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
    step, adjoint_step, x0, steps, objective, comm, **options
        As for `gradient`. ``report``, here, is where rank 0 writes the report of the check:
        ``"-"`` (standard output) or a file.
    mask : callable, optional
        ``mask(array)`` sets to zero what is part of the array and of no state, such as halos that a
        step fetches before it reads them.
    seeds, epsilon, product_steps
        Directions (0: three), the largest perturbation (0: 0.01, in single precision 0.1), and how
        many steps have their products tested (0: 32).

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
    problem = _Problem(step, adjoint_step, x0, objective)
    ranks = _world(comm)
    start = problem.u.copy()
    size = float(np.sqrt(np.mean(np.abs(start) ** 2))) if start.size else 0.0

    def direction(seed: int) -> Array:
        random = np.random.default_rng([seed, ranks.Get_rank()])
        values: Array = random.standard_normal(start.shape) * (size or 1.0)
        return values.astype(start.dtype)

    def perturb(seed: int, epsilon: float) -> None:
        problem.u[...] = start + epsilon * direction(seed) if epsilon else start

    def derivative(seed: int) -> float:
        return float(ranks.allreduce(np.vdot(problem.lam, direction(seed)).real))

    def mask_both() -> None:
        if mask is not None:
            mask(problem.u)
            mask(problem.lam)

    with Run(ranks, **options) as run:
        problem.register(run)
        return run.check_gradient(
            steps, advance=problem.advance, adjoint=problem.adjoint, turn=problem.turn,
            perturb=perturb, objective=lambda: float(problem.value[0]), derivative=derivative,
            mask=None if mask is None else mask_both, pairs={"u": "lam"}, seeds=seeds,
            epsilon=epsilon, product_steps=product_steps, report=report)
