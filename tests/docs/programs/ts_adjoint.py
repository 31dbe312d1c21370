# SPDX-License-Identifier: BSD-2-Clause
"""The gradient of J = |u(T)|^2 / 2 for a Brusselator in a ring, with respect to u(0), by TSAdjoint: once with PETSc's own
trajectory in memory, then with anadrome in 64 KiB, on disk (async) and in memory (revolve). The bits are compared."""
import os
import sys
import tempfile

import numpy as np
import petsc4py

PLUGIN = os.environ["ANADROME_PETSC"]  # the plugin, by its absolute path
petsc4py.init([sys.argv[0], "-dll_append", PLUGIN, *sys.argv[1:]])
from petsc4py import PETSc  # noqa: E402

CELLS, STEPS, DT = 64, 500, 0.02
A, B, K = 1.0, 3.0, 0.002 * CELLS**2  # K: diffusion / dx^2
left, here, right = (2 * np.roll(np.arange(CELLS), s) for s in (1, 0, -1))
ROWS = np.arange(0, 4 * 2 * CELLS + 1, 4, dtype=PETSc.IntType)  # four entries in each row
COLUMNS = np.empty((CELLS, 2, 4), dtype=PETSc.IntType)
COLUMNS[:, 0] = np.stack([left, here, right, here + 1], axis=1)
COLUMNS[:, 1] = np.stack([left + 1, here + 1, right + 1, here], axis=1)


def rhs(ts, t, u, f):
    w = u.getArray(readonly=True).reshape(CELLS, 2)
    a, b = w.T
    g = K * (np.roll(w, 1, axis=0) - 2 * w + np.roll(w, -1, axis=0))
    g[:, 0] += A + a * a * b - (B + 1) * a
    g[:, 1] += B * a - a * a * b
    f.setArray(g.ravel())


def jacobian(ts, t, u, J, P):
    a, b = u.getArray(readonly=True).reshape(CELLS, 2).T
    v = np.full((CELLS, 2, 4), K)
    v[:, 0, 1], v[:, 0, 3] = 2 * a * b - (B + 1) - 2 * K, a * a
    v[:, 1, 1], v[:, 1, 3] = -a * a - 2 * K, B - 2 * a * b
    P.setValuesCSR(ROWS, COLUMNS.ravel(), v.ravel())
    P.assemble()


def gradient(**settings):
    options = PETSc.Options()
    for key, value in settings.items():
        options.setValue(key, value)
    ts = PETSc.TS().create(PETSc.COMM_SELF)
    u, lam = (PETSc.Vec().createSeq(2 * CELLS, bsize=2, comm=PETSc.COMM_SELF) for _ in range(2))
    P = PETSc.Mat().createAIJ(2 * CELLS, nnz=4, comm=PETSc.COMM_SELF)
    ts.setProblemType(PETSc.TS.ProblemType.NONLINEAR)
    ts.setRHSFunction(rhs, u.duplicate())
    ts.setRHSJacobian(jacobian, P, P)
    ts.setTimeStep(DT)
    ts.setMaxSteps(STEPS)
    ts.setMaxTime(2 * DT * STEPS)  # the number of steps ends the run
    ts.setExactFinalTime(PETSc.TS.ExactFinalTime.STEPOVER)
    ts.setSaveTrajectory()  # before setFromOptions, which gives it its type; afterwards it stays "basic"
    ts.setFromOptions()
    x = np.arange(CELLS) / CELLS
    u.setArray(np.stack([1 + 0.3 * np.sin(2 * np.pi * x), 3 + 0.2 * np.cos(4 * np.pi * x)], axis=1).ravel())
    ts.solve(u)
    assert ts.getStepNumber() == STEPS
    u.copy(lam)
    ts.setCostGradients([lam])
    ts.adjointSolve()
    result = lam.getArray().copy()
    ts.destroy()
    for key in settings:
        options.delValue(key)
    return result


failed = False
for method in ({"ts_type": "rk", "ts_rk_type": "4"}, {"ts_type": "cn", "ksp_type": "preonly", "pc_type": "lu"}):
    method["ts_adapt_type"] = "none"
    expected = gradient(ts_trajectory_type="memory", **method)
    for schedule in "async", "revolve":
        with tempfile.TemporaryDirectory(dir=".") as directory:
            view = os.path.join(directory, "view.txt")
            found = gradient(ts_trajectory_type="anadrome", ts_trajectory_anadrome_memory="64KiB",
                             ts_trajectory_anadrome_directory=directory, ts_trajectory_anadrome_schedule=schedule,
                             ts_trajectory_view=":" + view, **method)
            with open(view) as text:
                lines = text.read()
        if "type: anadrome" not in lines:  # PETSc falls back to "basic" without a word
            sys.exit("the trajectory was not anadrome:\n" + lines)
        print(lines, end="")
        differ = np.flatnonzero(expected.view(np.uint64) != found.view(np.uint64))
        print(method["ts_type"], schedule, "|gradient| =", np.linalg.norm(found), flush=True)
        for i in differ[:5]:
            print(f"  element {i}: memory {expected[i].hex()}, anadrome {found[i].hex()}")
        failed |= differ.size > 0 or not np.linalg.norm(found) > 0
print("different" if failed else "equal")
sys.exit(1 if failed else 0)
