# SPDX-License-Identifier: BSD-2-Clause
"""A petsc4py script, unchanged: the type comes through PETSC_OPTIONS, and it prints what it prints with `basic`.

  petsc4py_test.py SCRIPT --plugin LIBRARY
"""
import argparse
import os
import subprocess
import sys
import tempfile


# A step fails; nobody destroys the TS. It is killed there, or PETSc is finalized.
FAILS = """
import os, sys, petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc
def rhs(ts, t, u, f):
    if ts.getStepNumber() == 300:
        print(*os.listdir())
        sys.stdout.flush()
        os.kill(os.getpid(), 9) if "kill" in sys.argv else 1 / 0
    u.copy(f)
ts, u = PETSc.TS().create(PETSC_COMM), PETSc.Vec().createMPI(900, comm=PETSC_COMM)
ts.incRef()  # as where it is never destroyed
ts.setRHSFunction(rhs, u.duplicate()); ts.setTimeStep(1e-3); ts.setMaxSteps(1000)
ts.setSaveTrajectory(); ts.setFromOptions(); ts.solve(u)
""".replace("PETSC_COMM", "PETSc.COMM_WORLD")


def leaves_nothing(plugin):
    """A program that ends after an error; of one that is killed the next one says what it left, and how to remove it."""
    options = (f"-dll_append {plugin} -ts_type rk -ts_adapt_type none -ts_trajectory_type anadrome "
               "-ts_trajectory_anadrome_memory 512KiB -ts_trajectory_anadrome_schedule async")
    with tempfile.TemporaryDirectory(prefix="anadrome-petsc-") as folder:
        ended, killed, after = (subprocess.run([sys.executable, "-c", FAILS, *words], cwd=folder, text=True, capture_output=True,
                                               timeout=120, env=dict(os.environ, PETSC_OPTIONS=options))
                                for words in ([], ["kill"], []))
        left = os.listdir(folder)
    said = f"{os.path.realpath(folder)} has 1 directory TS-* of programs that were aborted; `anadrome clean "
    good = (ended.stdout.startswith("TS-") and "ZeroDivisionError" in ended.stderr and "anadrome" not in killed.stderr
            and [f"{name}\n" for name in left] == [killed.stdout] and said in after.stderr)
    print("ok  " if good else f"FAIL {ended} {killed} {after} {left}", "of a TS that nobody destroys")
    return good


def prints_the_same(script, plugin):
    steps = "-ts_rk_type 4 -ts_adapt_type none -ts_trajectory_type"
    said = []
    for options in (f"{steps} basic", f"{steps} anadrome -dll_append {plugin} -ts_trajectory_max_cps_ram 4"):
        with tempfile.TemporaryDirectory(prefix="anadrome-petsc-") as folder:
            done = subprocess.run([sys.executable, script], cwd=folder, env=dict(os.environ, PETSC_OPTIONS=options), check=True,
                                  text=True, capture_output=True, timeout=120)
        said.append([float(word) for word in done.stdout.split() if "(" not in word])
    good = said[0] == said[1] and len(said[0]) == 4
    print("ok  " if good else "FAIL", said)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("script")
    parser.add_argument("--plugin", required=True)
    options = parser.parse_args()
    return not prints_the_same(options.script, options.plugin) or not leaves_nothing(options.plugin)


if __name__ == "__main__":
    sys.exit(main())
