# SPDX-License-Identifier: BSD-2-Clause
"""A nonlinear advection on a ring of cells over all ranks, its adjoint, and both with every state kept."""
import numpy as np

DT = 0.1


class Ring:
    """u_i <- u_i - DT u_i (u_i - u_{i-1}); the neighbour's last cell comes by a message."""

    def __init__(self, comm, cells=40):
        self.comm = comm
        self.left, self.right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
        places = np.arange(cells) + cells * comm.rank
        self.x0 = 0.5 + 0.3 * np.sin(2 * np.pi * places / (cells * comm.size))

    def from_left(self, last):
        return self.comm.sendrecv(last, dest=self.right, source=self.left)

    def from_right(self, first):
        return self.comm.sendrecv(first, dest=self.left, source=self.right)

    def upwind(self, u):
        before = np.empty_like(u)
        before[1:] = u[:-1]
        before[0] = self.from_left(u[-1])
        return before

    def step(self, u, k=0):
        u -= DT * u * (u - self.upwind(u))

    def adjoint_step(self, u, lam, k=0):
        to_left = DT * u * lam
        lam *= 1 - DT * (2 * u - self.upwind(u))
        lam[:-1] += to_left[1:]
        lam[-1] += self.from_right(to_left[0])

    def objective(self, u):
        return self.comm.allreduce(0.5 * float(np.dot(u, u))), u

    def everything_kept(self, steps):
        states = [self.x0.copy()]
        for k in range(steps):
            states.append(states[-1].copy())
            self.step(states[-1])
        value, lam = self.objective(states.pop())
        lam = lam.copy()
        while states:
            self.adjoint_step(states.pop(), lam)
        return value, lam
