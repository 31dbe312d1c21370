# SPDX-License-Identifier: BSD-2-Clause
"""heat_petsc against the C example: the same objective and the same gradient, cell by cell, to the accuracy of the
arithmetic, however the trajectory is kept and on any number of ranks.

  heat_test.py --programs HEAT_PETSC HEAT_REFERENCE --plugin LIBRARY
"""
import argparse
import array
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

NX, NY, STEPS = 40, 27, 60
TOLERANCE = 1e-12


def petsc_vectors(path):
    """The vectors of a PETSc binary file, one after the other."""
    data, at, values = path.read_bytes(), 0, []
    while at < len(data):
        _, rows = struct.unpack_from(">ii", data, at)
        values += struct.unpack_from(f">{rows}d", data, at + 8)
        at += 8 + 8 * rows
    return values


def apart(found, expected):
    if len(found) != len(expected):
        return float("inf")
    return max(abs(a - b) for a, b in zip(found, expected)) / max(map(abs, expected))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", nargs=2, required=True)
    parser.add_argument("--plugin", required=True)
    options = parser.parse_args()
    heat_petsc, reference = options.programs
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="anadrome-petsc-") as folder:
        subprocess.run([reference, f"{NX}x{NY}", str(STEPS), "euler", "reference"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        raw = array.array("d")
        raw.frombytes(Path(folder, "reference").read_bytes())
        cells = NX * NY
        type_options = f"-dll_append {options.plugin} -ts_trajectory_type anadrome"
        for ranks, kept in ((1, "-ts_trajectory_max_cps_ram 4"), (2, "-ts_trajectory_stride 7 -ts_trajectory_anadrome_checkpoints 3"), (4, "")):
            command = ["mpiexec", "-n", str(ranks), heat_petsc, "-da_grid_x", str(NX), "-da_grid_y", str(NY),
                       "-ts_max_steps", str(STEPS), "-gradient", "found", "-viewer_binary_skip_info"]
            subprocess.run(command, cwd=folder, check=True, timeout=120, capture_output=True,
                           env=dict(os.environ, PETSC_OPTIONS=f"{type_options} {kept}"))
            found = petsc_vectors(Path(folder, "found"))
            parts = [apart(found[:cells], raw[:cells]), apart(found[cells:], raw[cells:])]
            good = max(parts) <= TOLERANCE
            wrong += not good
            print(f"{'ok  ' if good else 'FAIL'} np{ranks} {kept}: kappa {parts[0]:.1e}, u_0 {parts[1]:.1e}")
        one = f"[ $OMPI_COMM_WORLD_RANK != 0 ] || export ANADROME_OPTIONS=memory=1MiB; exec '{heat_petsc}' -ts_max_steps 9"
        said = subprocess.run(["mpiexec", "-n", "2", "sh", "-c", one],
                              cwd=folder, timeout=120, capture_output=True, text=True,
                              env=dict(os.environ, PETSC_OPTIONS=type_options))
        good = said.returncode != 0 and "ANADROME_OPTIONS differs between ranks" in said.stderr
        wrong += not good
        print(f"{'ok  ' if good else 'FAIL'} np2 an environment of one rank")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
