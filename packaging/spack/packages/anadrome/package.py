# Copyright the anadrome developers.
# SPDX-License-Identifier: BSD-2-Clause
"""`spack repo add packaging/spack`, then `spack install anadrome`: builds what is committed in the clone that this
file is part of; `spack dev-build anadrome@main` builds the clone as it is."""
import pathlib

from spack.package import *


class Anadrome(CMakePackage):
    """States of a time-dependent simulation, given back in reverse: asynchronous checkpoints in parallel
    HDF5 files and recomputation by Revolve, for adjoints in C, C++, Fortran and Python."""

    license("BSD-2-Clause")

    git = pathlib.Path(__file__).resolve().parents[4].as_uri()
    version("main", branch="main")

    variant("fortran", default=True, description="Build the Fortran module")
    variant("tool", default=True, description="Build the anadrome command")
    variant("mpi", default=True, description="With MPI and parallel HDF5; without: one process")
    variant("lz4", default=True, description="compress=lz4 and round")
    variant("zfp", default=True, description="compress=zfp")
    variant("petsc", default=False, description="Build the trajectory for PETSc")
    variant("python", default=False, description="Build the Python package")
    variant("static", default=False, description="Build static libraries beside the shared ones")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3:", when="+mpi")
    depends_on("hdf5@1.10:+mpi", when="+mpi")
    depends_on("hdf5@1.10:~mpi", when="~mpi")
    depends_on("xxhash@0.8:")
    depends_on("lz4", when="+lz4")
    depends_on("zfp", when="+zfp")
    depends_on("cli11", when="+tool")
    depends_on("nlohmann-json@3.11:", when="+tool")
    depends_on("petsc@3.18:3.25+mpi", when="+petsc")

    extends("python@3.10:", when="+python")
    depends_on("py-pybind11@2.10:", type="build", when="+python")
    depends_on("py-mpi4py", type=("build", "run"), when="+python+mpi")
    depends_on("py-numpy", type=("build", "run"), when="+python")

    conflicts("%gcc@:11", msg="C++20, and C descriptors of Fortran arrays: gcc 12 or later")
    conflicts("%clang@:13", msg="C++20: clang 14 or later")
    conflicts("+fortran", when="~mpi", msg="The Fortran module needs MPI")
    conflicts("+petsc", when="~mpi", msg="The trajectory for PETSc needs MPI")

    def cmake_args(self):
        return [
            self.define_from_variant("ANADROME_MPI", "mpi"),
            self.define_from_variant("ANADROME_LZ4", "lz4"),
            self.define_from_variant("ANADROME_ZFP", "zfp"),
            self.define_from_variant("ANADROME_BUILD_FORTRAN", "fortran"),
            self.define_from_variant("ANADROME_BUILD_STATIC", "static"),
            self.define_from_variant("ANADROME_BUILD_TOOL", "tool"),
            self.define_from_variant("ANADROME_BUILD_PETSC", "petsc"),
            self.define_from_variant("ANADROME_BUILD_PYTHON", "python"),
            self.define("ANADROME_BUILD_TESTS", False),
            self.define("ANADROME_BUILD_EXAMPLES", False),
            self.define("CMAKE_INSTALL_RPATH_USE_LINK_PATH", True),
        ]
