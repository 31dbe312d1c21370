# SPDX-License-Identifier: BSD-2-Clause
"""programs_test.py CASE: programs that were written from the pages alone, against an installed copy. Each computes its gradient
with every state kept, too, and prints "equal" if the bits are the same."""
import os
import re
import unittest
from pathlib import Path

from staging import StagedCase, file_in

PROGRAMS = Path(__file__).parent / "programs"


class Programs(StagedCase):
    def flags(self, package):
        flags = self.succeed("pkg-config", "--cflags", "--libs", package).split()
        return [*flags, "-Wl,-rpath," + self.succeed("pkg-config", "--variable=libdir", "anadrome").strip(), "-lm"]

    def follow(self, compiler, source, package="anadrome", more=()):
        program = self.folder / "program"
        self.succeed(compiler, "-O2", "-Wall", *more, PROGRAMS / source, "-o", program, *self.flags(package))
        self.environment["ANADROME_OPTIONS"] = "report=-"
        for ranks in ("1", "2"):
            output = self.succeed(os.environ["ANADROME_TEST_MPIEXEC"], "-n", ranks, program)
            self.assertRegex(output, r"(?m)^equal$")
            self.assertNotIn(" 0 B read", output, "no state came from disk")

    def test_wave_with_receivers_in_c(self):
        self.follow("mpicc", "wave_receivers.c")

    def test_advection_with_random_forcing_in_fortran(self):
        self.follow("mpifort", "advection.f90", "anadrome-fortran")

    def test_leapfrog_in_cxx(self):
        self.follow("mpicxx", "leapfrog.cpp", more=["-std=c++20"])


class Petsc(StagedCase):
    def test_ts_in_python(self):
        self.environment["ANADROME_PETSC"] = str(file_in(self.prefix, "libanadrome_petsc.so"))
        output = self.succeed("/usr/bin/python3", PROGRAMS / "ts_adjoint.py")
        self.assertRegex(output, r"(?m)^equal$")
        self.assertEqual(len(re.findall("type: anadrome", output)), 4)


if __name__ == "__main__":
    unittest.main()
