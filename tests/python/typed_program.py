# SPDX-License-Identifier: BSD-2-Clause
"""A program of a user with types; mypy reads it, and nobody runs it."""
from typing import NoReturn

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

import anadrome
from anadrome import Adjoint, Advance, Retreat, Turn, Visit


def assert_never(value: NoReturn) -> NoReturn:
    raise AssertionError(value)


def carry_out(action: anadrome.Action, u: npt.NDArray[np.float64], lam: npt.NDArray[np.float64]) -> None:
    match action:
        case Advance(first, last):
            u += last - first
        case Turn():
            lam[:] = u
        case Adjoint(k):
            lam *= k
        case Visit():
            pass
        case Retreat(k):
            u -= k
        case _:
            assert_never(action)


def step(u: npt.NDArray[np.float64], k: int) -> None:
    u += k


def adjoint_step(u: npt.NDArray[np.float64], lam: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.float64]:
    return lam * u


def main() -> float:
    u, lam = np.zeros(3), np.zeros(3)
    with anadrome.Run(MPI.COMM_WORLD, memory="1MiB", keep=True) as run:
        run.state(u=u)
        for action in run.sweep(10):
            carry_out(action, u, lam)
        slots: int = run.statistics().slots
    J, gradient = anadrome.gradient(step, adjoint_step, u, 10, lambda u: (float(u.sum()), np.ones(3)),
                                    after=lambda run: print(run.summary()))
    check = anadrome.check_gradient(step, adjoint_step, u, 10, lambda u: (float(u.sum()), np.ones(3)))
    if check.verdict is anadrome.Verdict.WRONG:
        print(check.message)
    return J + float(gradient[0]) + slots
