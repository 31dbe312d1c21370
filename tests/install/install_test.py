# SPDX-License-Identifier: BSD-2-Clause
"""Programs of users, built against an installed copy that was moved to another folder, on 2 ranks."""
import os
import pathlib
import re
import shutil
import unittest

from staging import FORTRAN, HERE, SOURCES, StagedCase, file_in, run


class CMake(StagedCase):
    def test_c(self):
        output = self.on_two_ranks(self.build_with_cmake("c_cmake") / "sweep")
        self.assertRegex(output, r"anadrome \d+\.\d+\.\d+: equal")

    def test_cxx_without_c(self):
        build = self.build_with_cmake("cxx_cmake")
        self.on_two_ranks(build / "sweep_11")
        self.on_two_ranks(build / "sweep_20")

    def test_fortran_without_c(self):
        self.on_two_ranks(self.build_with_cmake("fortran_cmake") / "sweep")

    def test_streams_without_mpi(self):
        build = self.build_with_cmake("stream_cmake", "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON", "-DCMAKE_C_COMPILER=gcc")
        self.assertEqual(self.succeed(build / "stream"), "100 adjoints\n")
        self.assertNotIn("libmpi", self.succeed("ldd", build / "stream"))

    def test_static_libraries(self):
        for project in ("c_static", "fortran_static"):
            program = self.build_with_cmake(project) / "sweep"
            self.on_two_ranks(program)
            self.assertNotIn("libanadrome", self.succeed("ldd", program))
            shutil.rmtree(self.folder / "build")


class Petsc(StagedCase):
    def test_a_linked_program(self):
        program = self.build_with_cmake("petsc_cmake") / "sweep"
        self.environment["PETSC_OPTIONS"] = ("-ts_trajectory_anadrome_directory . "
                                             "-ts_trajectory_anadrome_memory 60KiB")
        self.on_two_ranks(program)

    def test_a_program_that_is_not_linked(self):
        """The installed plugin, found by its path, finds the library beside it."""
        program = self.build_for_the_plugin()
        plugin = file_in(self.prefix, "libanadrome_petsc.so")
        self.environment["PETSC_OPTIONS"] = (f"-dll_append {plugin} -ts_trajectory_anadrome_directory . "
                                             "-ts_trajectory_anadrome_memory 60KiB")
        self.on_two_ranks(program)


class PythonCase(StagedCase):
    PROGRAM = """
import anadrome, numpy as np
from mpi4py import MPI
states, u, lam = [], np.linspace(0.1, 0.9, 100), np.zeros(100)
with anadrome.Run(MPI.COMM_WORLD, memory="8KiB", schedule="revolve") as run:
    run.state(u=u)
    for action in run.sweep(50):
        match action:
            case anadrome.Advance(first, last, again=again):
                for k in range(first, last):
                    if k == len(states):
                        states.append(u.copy())
                    u *= 1.1 - 0.1 * u
            case anadrome.Turn():
                lam[:] = u
            case anadrome.Adjoint(k):
                assert (u == states[k]).all()
                lam *= 1.1 - 0.2 * u
    again = run.statistics().forward_steps_taken - 50
expected = np.linspace(0.1, 0.9, 100)
for k in range(50):
    expected *= 1.1 - 0.1 * expected
for state in reversed(states):
    expected *= 1.1 - 0.2 * state
print("equal" if again > 0 and (lam == expected).all() else "different")
"""

    def on_two_ranks_of_python(self, path):
        self.environment.update(PYTHONPATH=str(path), PYTHONDONTWRITEBYTECODE="1")
        program = self.folder / "program.py"
        program.write_text(self.PROGRAM)
        output = self.succeed(os.environ["ANADROME_TEST_MPIEXEC"], "-n", "2", "/usr/bin/python3", program)
        self.assertEqual(re.findall("equal|different", output), ["equal"] * 2)  # the ranks' lines may meet


class Python(PythonCase):
    def setUp(self):
        super().setUp()
        self.package = file_in(self.prefix, "py.typed").parent
        self.environment.update(PYTHONPATH=str(self.package.parent), PYTHONDONTWRITEBYTECODE="1")

    def test_a_program(self):
        self.on_two_ranks_of_python(self.package.parent)

    def test_the_extension_finds_the_library_beside_it(self):
        extension, = self.package.glob("_core.*.so")
        found = re.search(r"libanadrome\.so\S* => (\S+)", self.succeed("ldd", extension))[1]
        self.assertTrue(pathlib.Path(found).resolve().is_relative_to(self.prefix.resolve()))

    def test_plans_are_those_of_the_command_beside_it(self):
        output = self.succeed("/usr/bin/python3", "-c", "import anadrome; print(anadrome.plan(steps=9, state=1, "
                              "memory='1GiB', step_time=1).command[0])")
        self.assertEqual(pathlib.Path(output.strip()), (self.prefix / "bin" / "anadrome").resolve())


class Pip(PythonCase):
    def test_a_program_with_what_pip_made_of_the_sources(self):
        sources, package = self.folder / "sources", self.folder / "package"
        shutil.copytree(SOURCES, sources, ignore=shutil.ignore_patterns("build", "out", ".git"))
        self.succeed("/usr/bin/python3", "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--no-index",
                     "--target", package, sources, seconds=1500)
        self.on_two_ranks_of_python(package)
        extension, = package.glob("anadrome/_core.*.so")
        found = re.search(r"libanadrome\.so\S* => (\S+)", self.succeed("ldd", extension))[1]
        self.assertTrue(pathlib.Path(found).resolve().is_relative_to(package.resolve()))


class Tool(StagedCase):
    def test_version(self):
        tool = file_in(self.prefix, "bin/anadrome")
        self.assertRegex(self.succeed(tool, "--version"), r"\d+\.\d+\.\d+")


class Components(StagedCase):
    def find(self, components, version="", optional=""):
        header = file_in(self.prefix, "anadrome.h").read_text()
        version = version or ".".join(re.findall(r"ANADROME_VERSION_(?:MAJOR|MINOR) (\d+)", header))
        build = self.folder / "build"
        output = self.succeed("cmake", "-S", HERE / "components", "-B", build, f"-DCOMPONENTS={components}",
                              f"-DOPTIONAL={optional}", f"-DVERSION={version}")
        return re.search(r"found: (\S*)(.*)", output)

    def test_what_is_there_is_found_and_what_is_not_is_named(self):
        for components, version, said in (("c", "", None), ("c;teapot", "", "component teapot: it is not installed"), ("fortran", "", "Fortran"),
                                          ("c", "9.0", ""), ("c", "0.1", "")):  # a minor version may change the interfaces
            found = self.find(components, version)
            self.assertEqual(found[1] in ("1", "TRUE"), said is None, components)
            self.assertIn(said or "", found[2])

    def test_what_is_optional_need_not_be_there(self):
        """Neither the language Fortran nor pkg-config's files are."""
        self.environment["PKG_CONFIG_LIBDIR"] = str(self.folder)
        self.assertIn(self.find("c", optional="teapot;fortran;static;petsc")[1], ("1", "TRUE"))
        for component in ("static", "petsc"):
            found = self.find(component)
            self.assertNotIn(found[1], ("1", "TRUE"))
            self.assertIn(f"component {component}: ", found[2])

    def test_static_libraries_need_c(self):
        project = self.folder / "CMakeLists.txt"
        project.write_text("cmake_minimum_required(VERSION 3.20)\nproject(consumer LANGUAGES CXX)\n"
                           "find_package(anadrome REQUIRED COMPONENTS static)\n")
        process = run(["cmake", "-S", self.folder, "-B", self.folder / "build"], self.folder, self.environment)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("component static: the project does not enable the language C", process.stdout)


class Sources(StagedCase):
    def test_the_release_preset_needs_nothing_for_tests_or_the_command(self):
        absent = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON"
                  for name in ("GTest", "rapidcheck", "CLI11", "nlohmann_json", "Doxygen")]
        build = self.folder / "build"
        self.succeed("cmake", "--preset", "release", "-B", build, *absent, cwd=SOURCES)
        self.assertIn("ANADROME_BUILD_TOOL:BOOL=OFF", (build / "CMakeCache.txt").read_text())


class PkgConfig(StagedCase):
    def make(self, makefile, source):
        self.succeed("make", "-f", HERE / "c_make" / makefile, f"SOURCE={source}")
        return self.folder / "sweep"

    def test_c(self):
        self.on_two_ranks(self.make("Makefile", HERE))

    def test_fortran(self):
        self.on_two_ranks(self.make("fortran.mk", HERE))

    def test_streams_without_mpi(self):
        flags = self.succeed("pkg-config", "--cflags", "--libs", "anadrome-schedules").split()
        self.succeed("gcc", HERE.parent / "rooms" / "stream_without_mpi.c", "-o", "stream", *flags)
        self.environment["LD_LIBRARY_PATH"] = str(file_in(self.prefix, "libanadrome_schedules.so").parent)
        self.assertEqual(self.succeed(self.folder / "stream"), "100 adjoints\n")

    def test_the_static_libraries(self):
        for compiler, package, source in (("mpicc", "anadrome", HERE / "sweep.c"),
                                          ("mpifort", "anadrome-fortran", FORTRAN)):
            flags = self.succeed("pkg-config", "--static", "--cflags", "--libs", package).split()
            flags = [file_in(self.prefix, f"lib{flag[2:]}.a") if flag.startswith("-lanadrome") else flag
                     for flag in flags]
            self.succeed(compiler, source, "-o", "sweep", *flags)
            self.assertNotIn("libanadrome", self.succeed("ldd", self.folder / "sweep"))
            self.on_two_ranks(self.folder / "sweep")

    def test_it_needs_no_other_package(self):
        """Users of the shared library need not have what static ones need."""
        self.environment["PKG_CONFIG_LIBDIR"] = self.environment["PKG_CONFIG_PATH"]
        self.assertIn("-lanadrome", self.succeed("pkg-config", "--cflags", "--libs", "anadrome"))

    def test_version(self):
        header = file_in(self.prefix, "anadrome.h").read_text()
        parts = [re.search(rf"VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH")]
        self.assertEqual(self.succeed("pkg-config", "--modversion", "anadrome").strip(), ".".join(parts))


class Module(StagedCase):
    """The file for Environment Modules."""

    def test_it_sets_what_a_user_needs(self):
        self.environment.pop("PKG_CONFIG_PATH", None)
        self.environment.pop("PYTHONPATH", None)
        folder = file_in(self.prefix, "modulefiles")
        output = self.succeed("bash", "-c", f"source /usr/share/modules/init/bash && module use {folder} && "
                              "module load anadrome && command -v anadrome && pkg-config --variable=prefix anadrome && "
                              "/usr/bin/python3 -c 'import anadrome; print(anadrome.__file__)'")
        prefix = self.prefix.resolve()
        for path in output.splitlines():
            self.assertTrue(pathlib.Path(path).resolve().is_relative_to(prefix), output)
        self.assertEqual(len(output.splitlines()), 3, output)


class Library(StagedCase):
    def test_soname_has_the_version_of_the_interfaces(self):
        for name in ("libanadrome", "libanadrome_schedules", "libanadrome_fortran"):
            library = file_in(self.prefix, f"{name}.so")
            soname = re.search(r"SONAME\s+(\S+)", self.succeed("objdump", "-p", library))[1]
            self.assertRegex(soname, rf"^{name}\.so\.0\.\d+$")  # from 1.0 on the major version alone
            self.assertTrue((library.parent / soname).exists())

    def test_a_library_finds_the_others_beside_it(self):
        library = file_in(self.prefix, "libanadrome_fortran.so")
        found = re.findall(r"libanadrome\w*\.so\S* => (\S+)", self.succeed("ldd", library))
        self.assertEqual({pathlib.Path(path).parent.resolve() for path in found}, {library.parent.resolve()})
        self.assertEqual(len(found), 2)

    def test_names_of_the_fortran_library(self):
        """Nothing but its modules and one C function: no name of a user's can meet one of these."""
        output = self.succeed("nm", "-D", "--defined-only", file_in(self.prefix, "libanadrome_fortran.so"))
        names = [line.split()[-1] for line in output.splitlines()]
        self.assertIn("anadrome_fortran_open", names)
        others = [name for name in names if not re.match(r"_{0,2}(anadrome_|.*_MOD_)", name)]
        self.assertEqual(others, [])


class Headers(StagedCase):
    """The headers compile alone, with everything that warns an error."""

    def compile(self, compiler, standard, source):
        mpi = self.succeed("mpicc", "--showme:compile").replace("-I", "-isystem").split()
        flags = self.succeed("pkg-config", "--cflags", "anadrome").split()
        process = run([compiler, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                       "-fsyntax-only", *mpi, *flags, source], self.folder)
        self.assertEqual(process.returncode, 0, process.stdout)

    def test_c(self):
        for compiler in ("gcc", "clang"):
            for standard in ("c11", "c17"):
                with self.subTest(compiler=compiler, standard=standard):
                    self.compile(compiler, standard, HERE.parent / "rooms" / "header_alone.c")

    def test_cxx(self):
        both = self.folder / "header_alone.cpp"
        both.write_text((HERE.parent / "rooms" / "header_alone.c").read_text())
        for compiler in ("g++", "clang++"):
            for standard in ("c++11", "c++20"):
                for source in (both, HERE / "headers_alone.cpp"):
                    with self.subTest(compiler=compiler, standard=standard, source=source):
                        self.compile(compiler, standard, source)


if __name__ == "__main__":
    unittest.main()
