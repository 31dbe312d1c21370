# SPDX-License-Identifier: BSD-2-Clause
"""arrows_test.py SOURCES BUILD: a room includes only rooms below it, and MPI and HDF5 stay where they belong, by all that the
compiler read for each file when it was built, not only by what the file names itself. No circle of folders, no full folder."""
import collections
import pathlib
import re
import subprocess
import sys
import unittest

BUILD = pathlib.Path(sys.argv.pop()).resolve()
SOURCES = pathlib.Path(sys.argv.pop()).resolve()
BELOW = {"base": set(), "schedule": {"base"}, "planners": {"base", "schedule"}, "sketch": {"base"}, "device": {"base"}, "store": {"base", "device"},
         "engine": {"base", "schedule", "device", "store"},
         "objects": {"base", "schedule", "device", "store", "engine"},
         "check": {"base", "schedule", "device", "store", "engine"},
         "api/schedules": {"base", "schedule", "planners", "sketch"}}
BELOW["api"] = set(BELOW)
BELOW["tool"] = set(BELOW) - {"objects", "check", "api", "api/schedules"}
LIBRARY = ("base", "schedule", "planners", "sketch", "device", "store", "engine", "objects", "check")
KNOW_NEITHER = {"base", "schedule", "planners", "sketch", "device", "api/schedules"}
MOST_FILES = 22  # in a folder
# Where the store talks to HDF5, whose parallel headers include MPI's.
STORE_KNOWS = {"hdf5_write.cpp", "master.cpp", "mpio_transport.cpp", "skeleton.cpp"}


def room_of(path):
    return "api/schedules" if path.parts[:2] == ("api", "schedules") else path.parts[0]


def rules_of_ninja():
    text = subprocess.run(["ninja", "-C", BUILD, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    for rule in text.split("\n\n"):
        yield [line.strip() for line in rule.splitlines()[1:] if line.startswith(" ")]


def rules_of_make():
    for path in BUILD.glob("src/**/*.o.d"):
        yield re.sub(r"\\\n", " ", path.read_text()).split(":", 1)[1].split()


def included():
    """{a source file, below src: what was read to compile it}."""
    files = {}
    for rule in rules_of_ninja() if (BUILD / "build.ninja").exists() else rules_of_make():
        read = [(BUILD / path).resolve() for path in rule]
        source = next((path for path in read if path.suffix == ".cpp"), None)
        if source and source.is_relative_to(SOURCES):
            files[source.relative_to(SOURCES)] = set(read)
    return files


class Arrows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.read = included()

    def through(self, source, found):
        """The files that name it, of those read for the source."""
        name = re.compile(rf'# *include *["<](?:[^">]*/)?{re.escape(found.name)}[">]')
        return [str(path.relative_to(SOURCES)) for path in sorted(self.read[source])
                if path.is_relative_to(SOURCES) and name.search(path.read_text())]

    def test_every_file_of_the_library_was_seen(self):
        files = {path.relative_to(SOURCES) for room in (*LIBRARY, "api/c", "api/schedules") for path in (SOURCES / room).rglob("*.cpp")}
        self.assertGreater(len(files), 50)
        platforms = {pathlib.Path("base/platform") / name for name in ("linux.cpp", "posix.cpp")}  # one of them
        self.assertEqual(len(platforms & self.read.keys()), 1)
        self.assertEqual(sorted(files - platforms - self.read.keys()), [])

    def test_rooms_include_only_those_below(self):
        for source, read in self.read.items():
            room = room_of(source)
            rooms = {path: room_of(path.relative_to(SOURCES)) for path in read if path.is_relative_to(SOURCES)}
            wrong = [path for path, other in rooms.items() if other != room and other not in BELOW[room]]
            self.assertEqual([], [f"{source}: {path.relative_to(SOURCES)} through {self.through(source, path)}"
                                  for path in wrong])

    def test_no_folder_includes_one_that_includes_it(self):
        to = collections.defaultdict(set)
        for path in (path for path in SOURCES.rglob("*.*") if path.suffix in (".cpp", ".h")):
            folder = path.parent.relative_to(SOURCES)
            names = re.findall(r'^#include "([\w/]+/)\w+\.h"', path.read_text(), flags=re.MULTILINE)
            to[folder] |= {pathlib.Path(name) for name in names} - {folder}
        self.assertGreater(len(to), 40)
        for folder in list(to):
            reached, next_ones = set(), [folder]
            while next_ones:
                more = to[next_ones.pop()] - reached
                reached |= more
                next_ones += more
            self.assertNotIn(folder, reached)

    def test_a_folder_can_be_looked_through(self):
        files = collections.Counter(path.parent for path in SOURCES.rglob("*.*"))
        self.assertEqual([], [f"{folder}: {count} files" for folder, count in files.items() if count > MOST_FILES])

    def test_no_more_than_need_be_know_mpi_and_hdf5(self):
        for source, read in self.read.items():
            if room_of(source) in KNOW_NEITHER or (source.parts[0] == "store" and source.name not in STORE_KNOWS):
                self.assertEqual([], [f"{source}: {path.name} through {self.through(source, path)}"
                                      for path in read if path.name in ("mpi.h", "hdf5.h")])


if __name__ == "__main__":
    unittest.main()
