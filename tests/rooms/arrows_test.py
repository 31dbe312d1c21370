# SPDX-License-Identifier: BSD-2-Clause
"""arrows_test.py SOURCES BUILD: a room includes only rooms below it, and MPI and HDF5 stay where they belong, by all that the
compiler read for each file when it was built, not only by what the file names itself."""
import pathlib
import re
import subprocess
import sys
import unittest

BUILD = pathlib.Path(sys.argv.pop()).resolve()
SOURCES = pathlib.Path(sys.argv.pop()).resolve()
BELOW = {"base": set(), "schedule": {"base"}, "questions": {"base", "schedule"}, "sketch": {"base"},
         "store": {"base"},
         "engine": {"base", "schedule", "store"}, "api": {"base", "schedule", "sketch", "store", "engine"},
         "tool": {"base", "schedule", "questions", "sketch", "store", "engine"}}
KNOW_NEITHER = {"base", "schedule", "questions", "sketch"}
# Where the store talks to HDF5, whose parallel headers include MPI's.
STORE_KNOWS = {"hdf5_write.cpp", "master.cpp", "mpio_transport.cpp", "objects_file.cpp", "skeleton.cpp"}


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
        files = {path.relative_to(SOURCES) for room in ("base", "schedule", "questions", "sketch", "store", "engine", "api/c")
                 for path in (SOURCES / room).glob("*.cpp")}
        self.assertGreater(len(files), 50)
        self.assertEqual(sorted(files - self.read.keys()), [])

    def test_rooms_include_only_those_below(self):
        for source, read in self.read.items():
            room = source.parts[0]
            rooms = {path: path.relative_to(SOURCES).parts[0] for path in read if path.is_relative_to(SOURCES)}
            wrong = [path for path, other in rooms.items() if other != room and other not in BELOW[room]]
            self.assertEqual([], [f"{source}: {path.relative_to(SOURCES)} through {self.through(source, path)}"
                                  for path in wrong])

    def test_no_more_than_need_be_know_mpi_and_hdf5(self):
        for source, read in self.read.items():
            if source.parts[0] in KNOW_NEITHER or (source.parts[0] == "store" and source.name not in STORE_KNOWS):
                self.assertEqual([], [f"{source}: {path.name} through {self.through(source, path)}"
                                      for path in read if path.name in ("mpi.h", "hdf5.h")])


if __name__ == "__main__":
    unittest.main()
