#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The gradient of J = 1/2 |u_n|^2 by u_0 for u_t + a u u_x + b u_y = 0 on a torus whose rows are spread over the ranks.
The states take 50 MiB on each rank, the memory is 4 MiB. A difference of J checks the gradient.

  mpirun -n 2 ./advection.py
"""
import sys

import anadrome
import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_WORLD
ABOVE, BELOW = (COMM.rank - 1) % COMM.size, (COMM.rank + 1) % COMM.size
ROWS, COLUMNS, STEPS, A, B = 64, 256, 400, 0.2, 0.3  # rows of one rank; A, B: velocity * dt / dx

def with_halo(u, row, to, source):
    halo = np.empty(COLUMNS)
    COMM.Sendrecv(u[row], to, recvbuf=halo, source=source)
    return np.vstack([halo, u[:-1]] if row else [u[1:], halo])


def step(u):
    u -= A * u * (u - np.roll(u, 1, axis=1)) + B * (u - with_halo(u, -1, BELOW, ABOVE))


def adjoint_step(u, lam):
    lam += B * (with_halo(lam, 0, ABOVE, BELOW) - lam) + A * (
        np.roll(u * lam, -1, axis=1) - (2 * u - np.roll(u, 1, axis=1)) * lam)


def objective(u):
    for k in range(STEPS):
        step(u)
    return COMM.allreduce(0.5 * float(np.vdot(u, u)))


y, x = np.mgrid[ROWS * COMM.rank:ROWS * (COMM.rank + 1), :COLUMNS]
u_0 = 1 + 0.5 * np.sin(2 * np.pi * x / COLUMNS) * np.cos(2 * np.pi * y / ROWS / COMM.size)
u, lam = u_0.copy(), np.zeros_like(u_0)
with anadrome.Run(COMM, memory="4MiB", report="-") as run:
    run.state(u=u)
    run.adjoint(lam=lam)
    for action in run.sweep(STEPS):
        match action:
            case anadrome.Advance(first, last):
                for k in range(first, last):
                    step(u)
            case anadrome.Turn():
                lam[:] = u
            case anadrome.Adjoint():
                adjoint_step(u, lam)
d, e = u_0**2, 1e-4
difference = (objective(u_0 + e * d) - objective(u_0 - e * d)) / (2 * e)
error = abs(COMM.allreduce(float(np.vdot(lam, d))) / difference - 1)
if COMM.rank == 0:
    print(f"gradient and difference agree to {error:.0e}")
sys.exit(error > 1e-6)
