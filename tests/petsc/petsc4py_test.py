# SPDX-License-Identifier: BSD-2-Clause
"""A petsc4py script, unchanged: the type comes through PETSC_OPTIONS, and it prints what it prints with `basic`.

  petsc4py_test.py SCRIPT --plugin LIBRARY
"""
import argparse
import os
import subprocess
import sys
import tempfile


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
        for kept in ("-ts_trajectory_anadrome_schedule store_all", "-ts_trajectory_max_cps_ram 4",
                     "-ts_trajectory_stride 9"):
            found = run(options.script,
                        f"{steps} -dll_append {options.plugin} -ts_trajectory_type anadrome {kept}")
            numbers = [[float(x) for x in text.split() if "(" not in x] for _, text in (expected, found)]
            tolerance = 1e-9 if steps == adaptive else 0
            good = (expected[0], found[0]) == (0, 0) and len(numbers[0]) == len(numbers[1]) == 4 and all(
                abs(a - b) <= tolerance * abs(a) for a, b in zip(*numbers))
            wrong += not good
            print("ok  " if good else "FAIL", kept, numbers)
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
