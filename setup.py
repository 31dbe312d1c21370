# SPDX-License-Identifier: BSD-2-Clause
"""The part of `pip install .` that is not in pyproject.toml: the extension, with the library beside it, by CMake."""
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCES = Path(__file__).parent.resolve()
MPI = os.environ.get("ANADROME_MPI", "ON").upper() not in ("OFF", "0", "NO")  # OFF: a package of one process
OPTIONS = {
    "ANADROME_MPI": "ON" if MPI else "OFF",
    "CMAKE_BUILD_TYPE": "Release", "ANADROME_BUILD_PYTHON": "ON", "Python3_EXECUTABLE": sys.executable,
    **{f"ANADROME_BUILD_{part}": "OFF" for part in ("TESTS", "EXAMPLES", "STATIC", "FORTRAN", "PETSC", "TOOL")},
    # In the package, side by side.
    "ANADROME_PYTHON_DIR": ".", "CMAKE_INSTALL_LIBDIR": "anadrome"}


class BuildByCMake(build_ext):
    def run(self):
        build, staged = Path(self.build_temp).resolve(), Path(self.build_temp).resolve() / "staged"
        options = dict(OPTIONS)
        try:
            import pybind11
            options["pybind11_DIR"] = pybind11.get_cmake_dir()
        except ImportError:  # CMake looks for that of the system
            pass
        subprocess.run(["cmake", "-S", SOURCES, "-B", build, *(f"-D{key}={value}" for key, value in options.items()),
                        *shlex.split(os.environ.get("CMAKE_ARGS", ""))], check=True)
        subprocess.run(["cmake", "--build", build, "--parallel", "--target", "anadrome", "anadrome_python"], check=True)
        for component in ("schedules", "runtime", "python"):
            subprocess.run(["cmake", "--install", build, "--prefix", staged, "--component", component], check=True)
        package = Path(self.build_lib).resolve() / "anadrome"
        package.mkdir(parents=True, exist_ok=True)
        for file in (staged / "anadrome").iterdir():
            # A wheel has no links: each library goes under the name that it is asked for by.
            if file.suffix != ".py" and not file.is_symlink() and ".so" in file.name:
                name = re.sub(r"^(libanadrome(_schedules)?\.so\.\d+\.\d+)\..*", r"\1", file.name)
                shutil.copy2(file, package / name)


version = re.search(r"project\(anadrome VERSION ([\d.]+)", (SOURCES / "CMakeLists.txt").read_text())[1]
setup(version=version, install_requires=["numpy"] + ["mpi4py"] * MPI, setup_requires=["mpi4py"] * MPI,
      ext_modules=[Extension("anadrome._core", [])], cmdclass={"build_ext": BuildByCMake})
