# SPDX-License-Identifier: BSD-2-Clause
"""The Debian packages: what is in them, what they depend on, and that programs build against them."""
import collections
import os
import pathlib
import re
import shutil
import tempfile
import unittest

from staging import CXX, FORTRAN, HERE, RIGHT, StagedCase, run

EXPECTED = {"libanadrome", "libanadrome-dev", "libanadrome-schedules", "libanadrome-schedules-dev",
            "libanadrome-fortran"}


class DebCase(StagedCase):
    @classmethod
    def setUpClass(cls):
        """The packages, once for all tests of a class. Everything is built: Ninja has no target of CPack's to build it again."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="anadrome-install-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        packed = run(["cpack", "-G", "DEB", "-D", "CPACK_CMAKE_GENERATOR=Ninja", "-B", folder], os.environ["ANADROME_TEST_BUILD"], seconds=240)
        cls.debs = {re.match(r"[^_]+", path.name)[0]: path for path in folder.glob("*.deb")}
        assert packed.returncode == 0 and EXPECTED <= cls.debs.keys(), packed.stdout

    def field(self, package, name):
        return self.succeed("dpkg-deb", "--field", self.debs[package], name).strip()


class Unpacked(DebCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.root = next(iter(cls.debs.values())).parent / "root"
        for deb in cls.debs.values():
            unpacked = run(["dpkg-deb", "--extract", deb, cls.root], cls.root.parent)
            assert unpacked.returncode == 0, unpacked.stdout

    def setUp(self):
        super().setUp()
        self.prefix = self.root / "usr"
        pc, = self.prefix.rglob("anadrome.pc")
        self.environment.update(CMAKE_PREFIX_PATH=str(self.prefix), PKG_CONFIG_PATH=str(pc.parent),
                                PKG_CONFIG_SYSROOT_DIR="")

    def test_programs_build_and_run(self):
        self.on_two_ranks(self.build_with_cmake("c_cmake") / "sweep")
        shutil.rmtree(self.folder / "build")
        self.on_two_ranks(self.build_with_cmake("fortran_cmake") / "sweep")

    def test_dependencies_are_those_of_the_binaries(self):
        core = self.field("libanadrome", "Depends")
        for needed in ("libc6", "libstdc++6", "libxxhash0", "liblz4-1", "libzfp1", "libopenmpi", "libhdf5-openmpi"):
            self.assertIn(needed, core)
        self.assertNotIn("gfortran", core)
        self.assertNotRegex(self.field("libanadrome-schedules", "Depends"), "mpi|hdf5|xxhash|lz4|zfp")
        version = self.field("libanadrome", "Version")
        self.assertRegex(version, r"^\d+\.\d+\.\d+-1$")
        fortran = self.field("libanadrome-fortran", "Depends")
        self.assertIn("libgfortran", fortran)
        self.assertIn(f"libanadrome (= {version})", fortran)
        development = self.field("libanadrome-dev", "Depends")
        self.assertIn(f"libanadrome-schedules (= {version})", core)
        self.assertEqual(self.field("libanadrome-schedules-dev", "Depends"), f"libanadrome-schedules (= {version})")
        for needed in (f"libanadrome (= {version})", f"libanadrome-schedules-dev (= {version})",
                       f"libanadrome-fortran (= {version})", "libopenmpi-dev"):
            self.assertIn(needed, development)

    def test_what_is_optional(self):
        """The build under test says which of these there are: those that it has as files."""
        built = pathlib.Path(os.environ["ANADROME_TEST_BUILD"])
        self.assertEqual("anadrome" in self.debs, (built / "bin" / "anadrome").exists())
        self.assertEqual("libanadrome-petsc" in self.debs, any(built.rglob("libanadrome_petsc.so")))
        self.assertEqual("python3-anadrome" in self.debs, (built / "python" / "anadrome").exists())
        if "python3-anadrome" in self.debs:
            depends = self.field("python3-anadrome", "Depends")
            minor = int(self.succeed("/usr/bin/python3", "-c", "import sys; print(sys.version_info.minor)"))
            for needed in (f"libanadrome (= {self.field('libanadrome', 'Version')})", "python3-mpi4py", "python3-numpy",
                           f"python3 (>= 3.{minor}~)", f"python3 (<< 3.{minor + 1}~)", "libopenmpi"):
                self.assertIn(needed, depends)
            package = next(self.prefix.rglob("py.typed")).parents[1]
            self.assertRegex(self.succeed("env", f"PYTHONPATH={package}", "/usr/bin/python3", "-c",
                                          "import anadrome; print(anadrome.__version__)"), r"\d+\.\d+\.\d+")
        if "anadrome" in self.debs:
            self.assertRegex(self.succeed(self.prefix / "bin" / "anadrome", "--version"), r"\d+\.\d+\.\d+")
        if "libanadrome-petsc" in self.debs:
            self.assertIn("libpetsc", self.field("libanadrome-petsc", "Depends"))

    def test_every_file_is_in_one_package(self):
        owners = collections.defaultdict(list)
        for package, deb in self.debs.items():
            for line in self.succeed("dpkg-deb", "--contents", deb).splitlines():
                if not line.startswith("d"):
                    owners[line.split()[5]].append(package)
        self.assertEqual({path: names for path, names in owners.items() if len(names) > 1}, {})
        home = {pathlib.Path(path).name: names[0] for path, names in owners.items()}
        self.assertEqual(home["libanadrome.so.0.3"], "libanadrome")
        self.assertEqual(home["libanadrome_schedules.so.0.3"], "libanadrome-schedules")
        self.assertEqual(home["libanadrome_fortran.so.0.3"], "libanadrome-fortran")
        for name in ("libanadrome_petsc.so", "anadrome-petsc-targets.cmake", "anadrome-petsc-dependencies.cmake"):
            self.assertEqual(home.get(name, "libanadrome-petsc"), "libanadrome-petsc")
        for name in ("py.typed", "_core.pyi", "_run.py"):
            self.assertEqual(home.get(name, "python3-anadrome"), "python3-anadrome")
        for name in ("libanadrome_schedules.so", "schedule.h", "anadrome-schedules.pc", "anadromeConfig.cmake"):
            self.assertEqual(home[name], "libanadrome-schedules-dev")
        for name in ("libanadrome.so", "libanadrome.a", "anadrome.h", "anadrome.hpp", "anadrome.mod", "anadrome.pc"):
            self.assertEqual(home[name], "libanadrome-dev")
        for package in self.debs:
            self.assertTrue((self.prefix / "share/doc" / package / "copyright").exists(), package)


class CleanRoot(DebCase):
    """A Debian with nothing but what the packages depend on and what a C and a Fortran user has."""

    def test_apt_installs_and_programs_run(self):
        root = self.folder / "debian"
        self.succeed("debootstrap", "--variant=minbase", "bookworm", root, seconds=900)
        for path in (*self.debs.values(), HERE.parent / "rooms" / "stream_without_mpi.c", HERE / "sweep.c", FORTRAN, CXX):
            shutil.copy(path, root / "tmp")
        self.succeed("mount", "--bind", "/proc", root / "proc")
        self.addCleanup(run, ["umount", root / "proc"], self.folder)
        self.inside(root, "apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev pkg-config"
                          " /tmp/libanadrome-schedules_*.deb /tmp/libanadrome-schedules-dev_*.deb")
        self.inside(root, "! ls /usr/lib/*/libmpi* && cd /tmp && gcc stream_without_mpi.c -o stream"
                          " $(pkg-config --cflags --libs anadrome-schedules) && ./stream")
        self.inside(root, "apt-get install -y --no-install-recommends /tmp/*.deb")
        self.inside(root, "ldconfig -p | grep libanadrome_fortran.so.0.3")
        self.inside(root, "apt-get install -y --no-install-recommends g++ gfortran libc6-dev openmpi-bin pkg-config")
        self.inside(root, "cd /tmp && flags=$(pkg-config --cflags --libs anadrome) && mpicc sweep.c -o c $flags -lm"
                          " && mpicxx -std=c++11 shallow_water.cpp -o cxx11 $flags"
                          " && mpicxx -std=c++20 shallow_water.cpp -o cxx20 $flags"
                          " && mpifort burgers.f90 -o f $(pkg-config --cflags --libs anadrome-fortran)")
        for program in ("c", "cxx11", "cxx20", "f"):
            self.assertRegex(self.inside(root, f"cd /tmp && mpirun -n 2 ./{program}"), RIGHT)
        if "anadrome" in self.debs:
            self.inside(root, "anadrome --version")
        if "python3-anadrome" in self.debs:
            self.inside(root, "python3 -c 'import anadrome; anadrome.gradient'")
        if "libanadrome-petsc" in self.debs:
            shutil.copy(self.build_for_the_plugin(), root / "tmp")
            plugin = self.inside(root, "dpkg -L libanadrome-petsc | grep libanadrome_petsc.so$").strip()
            output = self.inside(root, f"cd /tmp && PETSC_OPTIONS='-dll_append {plugin} -ts_trajectory_anadrome_memory"
                                       " 60KiB' mpirun -n 2 ./plugged")
            self.assertRegex(output, RIGHT)

    def inside(self, root, command):
        return self.succeed("chroot", root, "env", "DEBIAN_FRONTEND=noninteractive", "sh", "-ec", command,
                            seconds=900)


if __name__ == "__main__":
    unittest.main()
