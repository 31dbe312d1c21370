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


def run(script, options):
    with tempfile.TemporaryDirectory(prefix="anadrome-petsc-") as folder:
        done = subprocess.run([sys.executable, script], cwd=folder, env=dict(os.environ, PETSC_OPTIONS=options),
                              text=True, capture_output=True, timeout=120)
    if done.returncode != 0:
        print(done.stdout, done.stderr[-3000:])
    return done.returncode, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("script")
    parser.add_argument("--plugin", required=True)
    options = parser.parse_args()
    adaptive = "-ts_rk_type 3bs -ts_rtol 1e-6 -ts_atol 1e-6 "
    wrong = 0
    for steps in ("-ts_rk_type 4 -ts_adapt_type none ", adaptive):
        expected = run(options.script, steps + "-ts_trajectory_type basic")
        for kept in ("-ts_trajectory_max_cps_ram 4", "-ts_trajectory_stride 9"):
            found = run(options.script,
                        f"{steps} -dll_append {options.plugin} -ts_trajectory_type anadrome {kept}")
            numbers = [[float(x) for x in text.split() if "(" not in x] for _, text in (expected, found)]
            tolerance = 1e-9 if steps == adaptive else 0
            good = (expected[0], found[0]) == (0, 0) and len(numbers[0]) == len(numbers[1]) == 4 and all(
                abs(a - b) <= tolerance * abs(a) for a, b in zip(*numbers))
            wrong += not good
            print("ok  " if good else "FAIL", kept, numbers)
    return wrong != 0 or not leaves_nothing(options.plugin)


if __name__ == "__main__":
    sys.exit(main())
