# SPDX-License-Identifier: BSD-2-Clause
"""An installed copy in a folder other than the one it was installed to, and programs built against it."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
SOURCES = HERE.parent.parent
FORTRAN, CXX = SOURCES / "examples/burgers/burgers.f90", SOURCES / "examples/shallow_water/shallow_water.cpp"
RIGHT = r"(?m)(^|: )equal\b|taylor slope +(1\.9|2\.0)"  # what programs print whose gradient is the expected one


def run(command, cwd, environment=None, seconds=120):
    """Runs to the end, whatever comes of it; text in stdout, which has stderr too."""
    return subprocess.run([str(word) for word in command], cwd=cwd, timeout=seconds, text=True,
                          env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def staged():
    return pathlib.Path(os.environ["ANADROME_STAGED"])


def file_in(prefix, pattern):
    """The one path below `prefix` that matches."""
    path, = prefix.rglob(pattern)
    return path


class StagedCase(unittest.TestCase):
    """A test with a folder of its own and the environment of someone who uses the installed copy."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="anadrome-install-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.prefix = staged()
        examples = [str(path) for path in pathlib.Path(os.environ["ANADROME_TEST_BUILD"], "examples").iterdir()]
        self.environment = {
            # Debian's Python first: mpi4py and numpy are Debian's.
            "PATH": ":".join([str(self.prefix / "bin"), *examples, "/usr/bin", os.environ["PATH"]]),
            "CMAKE_PREFIX_PATH": str(self.prefix),
            "PKG_CONFIG_PATH": str(file_in(self.prefix, "anadrome.pc").parent),
            "PYTHONPATH": ":".join([*(str(path.parents[1]) for path in self.prefix.rglob("anadrome/py.typed")),
                                    os.environ["PYTHONPATH"]]),
        }

    def succeed(self, *command, cwd=None, **how):
        process = run(command, cwd or self.folder, self.environment, **how)
        self.assertEqual(process.returncode, 0, f"{' '.join(map(str, command))}\n{process.stdout}")
        return process.stdout

    def on_two_ranks(self, program):
        """Runs `program`, which must say that the gradient is the expected one."""
        output = self.succeed(os.environ["ANADROME_TEST_MPIEXEC"], "-n", "2", program)
        self.assertRegex(output, RIGHT)
        return output

    def build_with_cmake(self, project, *definitions):
        """Builds HERE/project and returns the folder with its programs."""
        build = self.folder / "build"
        self.succeed("cmake", "-S", HERE / project, "-B", build, *definitions)
        self.succeed("cmake", "--build", build)
        return build

    def build_for_the_plugin(self):
        """A PETSc program that knows nothing of anadrome but the name of its trajectory."""
        source = (HERE / "petsc_cmake" / "sweep.c").read_text()
        source = source.replace("#include <anadrome/petsc.h>", "")
        source = source.replace("PetscCall(AnadromePetscRegister());", "")
        source = source.replace("TSTRAJECTORYANADROME", '"anadrome"')
        (self.folder / "plugged.c").write_text(source)
        flags = self.succeed("pkg-config", "--cflags", "--libs", "PETSc").split()
        self.succeed("mpicc", "plugged.c", "-o", "plugged", *flags, "-lm")
        return self.folder / "plugged"
