#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The gradient of J = 1/2 |u_n - 1|^2 by u_0 for u_t = div((1 + u^2) grad u) on the unit square, by implicit Euler. DOLFINx has
the forms; UFL derives the adjoint from them. The memory is 512 KiB on each rank, whatever the number of steps. A Taylor test
checks the gradient: what is left of J falls by 4 where the perturbation is halved.

  mpirun -n 2 ./heat_dolfinx.py [CELLS [STEPS]]     DOLFINx 0.5 to 0.9
"""
import sys

import anadrome
import numpy as np
import ufl
from dolfinx import fem, mesh
from dolfinx.fem.petsc import assemble_matrix, assemble_vector, create_matrix
from mpi4py import MPI
from petsc4py import PETSc
from ufl import dx, grad, inner

COMM = MPI.COMM_WORLD
# Names of 0.9, and those of 0.5.
function_space = getattr(fem, "functionspace", fem.FunctionSpace)


def vector(function):
    return function.x.petsc_vec if hasattr(function.x, "petsc_vec") else function.vector


class Heat:
    def __init__(self, cells, steps):
        square = mesh.create_unit_square(COMM, cells, cells)
        V = function_space(square, ("Lagrange", 1))
        self.steps, dt = steps, fem.Constant(square, 0.02 / steps)
        self.owned = V.dofmap.index_map.size_local
        # u_k, u_{k+1}, dJ/du_k, the adjoint of a step
        self.u, self.after, self.lam, self.mu, self.right, self.update = (fem.Function(V) for _ in range(6))
        F = ((self.after - self.u) / dt * (v := ufl.TestFunction(V)) +
             (1 + self.after**2) * inner(grad(self.after), grad(v))) * dx
        J = 0.5 * (self.after - 1) ** 2 * dx
        F_after, F_u = ufl.derivative(F, self.after), ufl.derivative(F, self.u)
        self.residual, self.jacobian, self.adjoint = fem.form(F), fem.form(F_after), fem.form(ufl.adjoint(F_after))
        self.through = fem.form(-ufl.action(ufl.adjoint(F_u), self.mu))
        self.objective, self.d_objective = fem.form(J), fem.form(ufl.derivative(J, self.after))
        self.matrix, self.krylov = create_matrix(self.jacobian), PETSc.KSP().create(COMM)
        self.krylov.setOperators(self.matrix)
        self.krylov.setType("gmres")
        self.krylov.getPC().setType("bjacobi")
        self.krylov.setTolerances(rtol=1e-12)

    def assemble(self, form, to):
        to.x.array[:] = 0
        assemble_vector(vector(to), form)
        vector(to).ghostUpdate(PETSc.InsertMode.ADD, PETSc.ScatterMode.REVERSE)
        to.x.scatter_forward()

    def solve(self, form, right, x):
        self.matrix.zeroEntries()
        assemble_matrix(self.matrix, form)
        self.matrix.assemble()
        self.krylov.solve(vector(right), vector(x))
        if self.krylov.getConvergedReason() < 0:
            raise RuntimeError("the linear solver does not converge")
        x.x.scatter_forward()

    def step(self):
        """By Newton's method."""
        self.after.x.array[:] = self.u.x.array
        for _ in range(20):
            self.assemble(self.residual, self.right)
            self.solve(self.jacobian, self.right, self.update)
            self.after.x.array[:] -= self.update.x.array
            if vector(self.update).norm() <= 1e-11 * vector(self.after).norm():
                self.u.x.array[:] = self.after.x.array
                return
        raise RuntimeError("Newton's method does not converge")

    def turn(self):
        self.after.x.array[:] = self.u.x.array
        self.assemble(self.d_objective, self.lam)
        return COMM.allreduce(fem.assemble_scalar(self.objective))

    def adjoint_step(self, later):
        """At u_{k+1}, which was u_k in the adjoint step before."""
        self.after.x.array[:] = later
        self.solve(self.adjoint, self.lam, self.mu)
        self.assemble(self.through, self.lam)
        later[:] = self.u.x.array

    def value(self, u_0):
        self.u.x.array[:] = u_0
        for _ in range(self.steps):
            self.step()
        return self.turn()

    def gradient(self, u_0, **options):
        self.u.x.array[:] = u_0
        later = np.empty_like(u_0)
        with anadrome.Run(COMM, **options) as run:
            run.state(u=self.u.x.array)  # with the ghosts, so that nothing is communicated
            run.adjoint(lam=self.lam.x.array, later=later)
            for action in run.sweep(self.steps):
                match action:
                    case anadrome.Advance(first, last):
                        for _ in range(first, last):
                            self.step()
                    case anadrome.Turn():
                        value = self.turn()
                        later[:] = self.u.x.array
                    case anadrome.Adjoint():
                        self.adjoint_step(later)
        return value, self.lam.x.array.copy()

    def taylor_rate(self, u_0, value, gradient, direction):
        """2 for a gradient that is right."""
        slope = COMM.allreduce(float(np.dot(gradient[:self.owned], direction[:self.owned])))
        rest = [abs(self.value(u_0 + e * direction) - value - e * slope) for e in (0.02, 0.01)]
        return float(np.log2(rest[0] / rest[1]))

    def start(self):
        self.u.interpolate(lambda x: np.cos(np.pi * x[0]) * np.cos(2 * np.pi * x[1]))
        self.u.x.scatter_forward()
        return self.u.x.array.copy()


def main(cells=64, steps=200):
    heat = Heat(cells, steps)
    u_0 = heat.start()
    value, gradient = heat.gradient(u_0, memory="512KiB", report="-")
    rate = heat.taylor_rate(u_0, value, gradient, u_0**2)
    if COMM.rank == 0:
        print(f"J {value:.9f}, Taylor rate {rate:.2f}")
    return abs(rate - 2) > 0.1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
