#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The gradient of a Van der Pol oscillator with petsc4py. Nothing here knows about anadrome:

  PETSC_OPTIONS="-dll_append /usr/local/lib/libanadrome_petsc.so -ts_trajectory_type anadrome" ./van_der_pol.py
"""
import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402  (after init, which takes the options)

MU = 5.0


def right_hand_side(ts, t, u, rate):
    x, v = u.array_r
    rate.array = [v, MU * (1 - x * x) * v - x]


def jacobian(ts, t, u, A, P):
    x, v = u.array_r
    P.setValues([0, 1], [0, 1], [0, 1, -2 * MU * x * v - 1, MU * (1 - x * x)])
    P.assemble()
    return True


def by_parameter(ts, t, u, A):
    x, v = u.array_r
    A.setValues([0, 1], [0], [0, (1 - x * x) * v])
    A.assemble()
    return True


def main():
    u = PETSc.Vec().createSeq(2)
    rate = u.duplicate()
    A = PETSc.Mat().createDense([2, 2])
    A.setUp()
    by_mu = PETSc.Mat().createDense([2, 1])
    by_mu.setUp()

    ts = PETSc.TS().create()
    ts.setRHSFunction(right_hand_side, rate)
    ts.setRHSJacobian(jacobian, A)
    ts.setRHSJacobianP(by_parameter, by_mu)
    ts.setType(PETSc.TS.Type.RK)
    ts.setTimeStep(0.01)
    ts.setMaxTime(3.0)
    ts.setMaxSteps(100000)
    ts.setExactFinalTime(PETSc.TS.ExactFinalTime.MATCHSTEP)
    ts.setSaveTrajectory()
    ts.setFromOptions()

    u.array = [2.0, -0.66]
    ts.solve(u)
    print(f"x(T)      {u.array[0]:.15e}")

    gradient, by_parameters = u.duplicate(), by_mu.createVecRight()
    gradient.array = [1.0, 0.0]
    by_parameters.set(0.0)
    ts.setCostGradients(gradient, by_parameters)
    ts.adjointSolve()
    print(f"dx(T)/du0 {gradient.array[0]:.15e} {gradient.array[1]:.15e}")
    print(f"dx(T)/dmu {by_parameters.array[0]:.15e}")


main()
