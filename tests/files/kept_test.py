# SPDX-License-Identifier: BSD-2-Clause
"""Runs with keep=on leave HDF5 files that HDF5's own tools and h5py read, whatever the layout, and
the states in them are those of a run that keeps every state in memory."""
import json
import os
import pathlib
import shutil
import stat
import subprocess
import unittest

import h5py
import numpy

import launch

RANKS = 4


def read_by_hand(segments):
    """{step: state} from /slots/u and /decomposition/u alone; `segments` are files that together
    hold all ranks of the same slots, in the order of their ranks."""
    pieces, steps = [], None
    for path in segments:
        with h5py.File(path, "r") as file:
            used = int(file["slots_used"][0])
            steps = file["slot_step"][:used]
            slots = file["slots/u"][:] if "u" in file["slots"] else None
            for count, stride, first, column in (file["decomposition/u"][:] if slots is not None
                                                 else []):
                in_slots = [slots[first + s * stride:first + s * stride + count]
                            for s in range(used)]
                pieces.append(numpy.array(in_slots).reshape(used, count))
    return dict(zip(steps.tolist(), numpy.concatenate(pieces, axis=1)))


class KeptCase(launch.DirectoryCase):
    def reference(self, grid, steps, *words, ranks=RANKS):
        """The states x_0 .. x_n of a run that keeps them all in memory."""
        dump = self.directory / "reference.dump"
        dump.unlink(missing_ok=True)
        self.succeed(ranks, "dump_states", grid, steps, dump, "schedule=store_all", *words)
        return numpy.fromfile(dump).reshape(steps + 1, -1)

    def keep(self, grid, steps, layout, interval, *words):
        results = self.right_heat(RANKS, "--grid", grid, "--steps", steps, "--layout", layout,
                                  "--interval", interval, "--schedule", "async", "--set",
                                  "keep=on", "--name", layout, *words)
        return self.directory / layout, results

    def segments(self, kept):
        """Files of the segments, {number: [paths in the order of the ranks]}."""
        groups = {}
        for path in sorted(kept.glob("segment-*.h5")):
            groups.setdefault(path.name.split(".")[0].split("-")[1], []).append(path)
        return groups

    def expect_only_private_files(self, kept):
        self.assertEqual(stat.S_IMODE(kept.stat().st_mode), 0o700)
        for path in kept.iterdir():
            self.assertTrue(path.name == "states.h5" or path.match("segment-*.h5"), path)
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600, path)

    def expect_states(self, kept, reference, steps):
        """The master and, by hand, the segments hold exactly these steps' states."""
        with h5py.File(kept / "states.h5", "r") as master:
            self.assertEqual(master["slot_step"][:].tolist(), steps)
            self.assertEqual(master["states/u"].shape, (len(steps), reference.shape[1]))
            self.assertEqual(master["states/u"][:].tobytes(), reference[steps].tobytes())
        by_hand = {}
        for files in self.segments(kept).values():
            by_hand.update(read_by_hand(files))
        self.assertEqual(sorted(by_hand), steps)
        for step in steps:
            self.assertEqual(by_hand[step].tobytes(), reference[step].tobytes(), step)

    def expect_readable_by_tools(self, kept, reference, steps):
        for path in kept.iterdir():
            for words in (["h5ls", "-r"], ["h5dump", "-H"]):
                tool = subprocess.run(words + [path], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True, timeout=30)
                self.assertEqual(tool.returncode, 0, tool.stderr)
                self.assertNotIn("error", tool.stderr)
                self.assertIn("slot_step", tool.stdout)
        raw = self.directory / "raw"
        subprocess.run(["h5dump", "-d", "/states/u", "-b", "LE", "-o", raw, kept / "states.h5"],
                       check=True, stdout=subprocess.DEVNULL, timeout=30)
        self.assertEqual(raw.read_bytes(), reference[steps].tobytes())

    def expect_segment_views(self, kept, reference):
        """layout=shared: /states/u of each segment shows the same without the master."""
        for path in kept.glob("segment-*.h5"):
            with h5py.File(path, "r") as segment:
                used = int(segment["slots_used"][0])
                steps = segment["slot_step"][:used]
                self.assertEqual(segment["states/u"][:used].tobytes(), reference[steps].tobytes())

    def expect_verified(self, kept):
        """By the tool, which knows only the files."""
        if "ANADROME_TEST_ANADROME_TOOL" not in os.environ:
            return  # not built
        process = launch.run_command([launch.path_of("anadrome_tool"), "verify", "--json", kept])
        self.assertEqual(process.returncode, 0, launch.said(process))
        run, = json.loads(process.stdout)["runs"]
        self.assertGreater(run["blocks_checked"], 0)
        self.assertEqual(run["blocks_unchecked"], 0)


class KeptFiles(KeptCase):
    def check_layout(self, layout):
        grid, steps = "37x29", 20
        reference = self.reference(grid, steps)
        for interval in (1, 3):
            with self.subTest(interval=interval):
                kept, results = self.keep(grid, steps, layout, interval)
                expected = list(range(0, steps, interval))
                self.assertEqual(results["anchors"], len(expected))
                self.expect_only_private_files(kept)
                self.expect_verified(kept)
                self.expect_states(kept, reference, expected)
                self.expect_readable_by_tools(kept, reference, expected)
                if layout == "shared":
                    self.expect_segment_views(kept, reference)

    def test_shared(self):
        self.check_layout("shared")
        self.assertEqual(len(list((self.directory / "shared").iterdir())), 2)

    def test_node(self):
        self.check_layout("node")

    def test_rank(self):
        self.check_layout("rank")
        self.assertEqual(len(list((self.directory / "rank").iterdir())), RANKS + 1)

    def test_a_moved_directory_stays_readable(self):
        reference = self.reference("12x11", 6)
        kept, _ = self.keep("12x11", 6, "rank", 1)
        elsewhere = self.directory / "elsewhere" / "states"
        elsewhere.parent.mkdir()
        shutil.move(kept, elsewhere)
        self.expect_states(elsewhere, reference, list(range(6)))

    def test_many_small_states_to_a_write(self):
        grid, steps = "7x5", 2500
        reference = self.reference(grid, steps)
        for layout in ("shared", "rank"):
            kept, results = self.keep(grid, steps, layout, 1, "--memory", "2MiB")
            self.assertGreater(results["states_per_write"], 1)
            self.assertLess(results["states_per_write"], steps)
            self.expect_states(kept, reference, list(range(steps)))
            self.expect_verified(kept)

    def test_ranks_without_cells(self):
        grid, steps = "9x1", 7
        reference = self.reference(grid, steps)
        for layout in ("shared", "rank"):
            kept, _ = self.keep(grid, steps, layout, 2)
            self.expect_states(kept, reference, [0, 2, 4, 6])

    def test_several_segments(self):
        grid, steps = "37x29", 70
        reference = self.reference(grid, steps)
        for layout in ("shared", "rank"):
            kept, _ = self.keep(grid, steps, layout, 1, "--steps-unknown", "--memory", "128KiB")
            self.assertGreater(len(self.segments(kept)), 1)
            self.expect_states(kept, reference, list(range(steps)))
            self.expect_readable_by_tools(kept, reference, list(range(steps)))
            self.expect_verified(kept)

    def test_parallel_hdf5_as_the_transport(self):
        grid, steps = "37x29", 20
        reference = self.reference(grid, steps)
        for layout in ("shared", "rank"):
            kept, _ = self.keep(grid, steps, layout, 2, "--transport", "mpio", "--memory", "64KiB")
            self.expect_states(kept, reference, list(range(0, steps, 2)))
            self.expect_verified(kept)

    def test_the_last_of_several_sweeps(self):
        grid, steps = "37x29", 20
        reference = self.reference(grid, steps)
        kept, _ = self.keep(grid, steps, "shared", 1, "--repeat", "3", "--memory", "64KiB")
        self.expect_states(kept, reference, list(range(steps)))
        self.expect_verified(kept)
        for path in kept.glob("segment-*.h5"):
            with h5py.File(path, "r") as segment:
                self.assertEqual(segment["sweep"][0], 3)

    def test_over_kept_files_of_an_earlier_run(self):
        grid, steps = "37x29", 20
        reference = self.reference(grid, steps)
        for layout, interval in (("shared", 1), ("rank", 2), ("shared", 3)):
            kept, _ = self.keep(grid, steps, layout, interval, "--name", "same")
            self.expect_states(kept.parent / "same", reference, list(range(0, steps, interval)))

    def test_states_read_back_from_disk(self):
        """Memory for a few states only: the files are written and read during the sweep."""
        grid, steps = "64x48", 30
        reference = self.reference(grid, steps)
        seen = self.directory / "seen.dump"
        for layout in ("shared", "node", "rank"):
            kept = self.directory / layout
            self.succeed(RANKS, "dump_states", grid, steps, seen, "schedule=async", "interval=1",
                         "keep=on", "layout=" + layout, "memory=64KiB", "name=" + layout,
                         f"directory={self.directory}")
            self.assertEqual(seen.read_bytes(), reference.tobytes())
            self.expect_only_private_files(kept)
            self.expect_states(kept, reference, list(range(steps)))


class SmallFields(KeptCase):
    """Fields of every type, with counts that differ between ranks: see dump_states.cpp."""

    FIELDS = {
        "single": ("f4", lambda rank: 3 * rank + 1),
        "a.pair": ("c16", lambda rank: (rank + 1) % 3),
        "small_pair": ("c8", lambda rank: 5 if rank == 0 else 2),
        "Integer-32": ("i4", lambda rank: 0 if rank == 1 else 3),
        "bytes": ("u1", lambda rank: 5 + rank),
    }

    def expected(self, name, step):
        kind, count = self.FIELDS[name]
        values = numpy.concatenate([10000 * step + 100 * rank + numpy.arange(count(rank))
                                    for rank in range(RANKS)])
        if kind == "u1":
            values = values % 251
        if kind.startswith("c"):
            values = values - 1j * values
        return values.astype(kind)

    def check(self, layout, memory):
        grid, steps = "21x17", 600
        words = [f"directory={self.directory}", "keep=on", "schedule=async", "interval=2",
                 "layout=" + layout, "memory=" + memory, "fields=many", "name=" + layout]
        seen = self.directory / "seen.dump"
        self.succeed(RANKS, "dump_states", grid, steps, seen, *words)
        reference = self.reference(grid, steps, "fields=many")
        self.assertEqual(seen.read_bytes(), reference.tobytes())
        kept = self.directory / layout
        self.expect_states(kept, reference, list(range(0, steps, 2)))
        with h5py.File(kept / "states.h5", "r") as master:
            for name in self.FIELDS:
                stored = master["states/" + name][:]
                self.assertEqual(stored.dtype, numpy.dtype(self.FIELDS[name][0]), name)
                for slot, step in enumerate(master["slot_step"][:].tolist()):
                    self.assertEqual(stored[slot].tolist(), self.expected(name, step).tolist())
        self.expect_verified(kept)

    def test_page_by_page(self):
        self.check("shared", "200KiB")

    def test_many_to_a_write(self):
        self.check("shared", "16MiB")

    def test_a_file_per_rank(self):
        self.check("rank", "16MiB")


class ParallelReader(KeptCase):
    def test_other_numbers_of_ranks(self):
        for grid, steps, interval, memory in (("37x29", 20, 1, "1GiB"), ("7x5", 2500, 1, "2MiB"),
                                              ("37x29", 20, 3, "64KiB")):
            self.reference(grid, steps)
            kept, _ = self.keep(grid, steps, "shared", interval, "--memory", memory)
            for ranks in (1, 2, 3, 5):
                with self.subTest(grid=grid, interval=interval, ranks=ranks):
                    self.succeed(ranks, "read_in_parallel", kept / "segment-00000.h5",
                                 self.directory / "reference.dump")


class FilesLeft(launch.DirectoryCase):
    def test_nothing_without_keep(self):
        for layout in ("shared", "node", "rank"):
            for memory in ("100KiB", "1GiB"):
                results = self.right_heat(3, "--grid", "64x48", "--steps", 30, "--layout", layout,
                                          "--interval", 1, "--schedule", "async", "--memory", memory)
                self.assertEqual(results["bytes_read"] > 0, memory == "100KiB")
                self.assertEqual([path.name for path in self.directory.iterdir()],
                                 ["results.json"])

    def test_files_are_private_while_a_run_lives(self):
        words = launch.ranks_command(2, "heat_equation", "--directory", self.directory, "--grid",
                                     "64x48", "--steps", 1000000, "--interval", 1, "--memory",
                                     "100KiB", "--schedule", "async", "--layout", "rank",
                                     "--set", "disk=64MiB")
        os.umask(0)
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            run = self.directory / "anadrome"
            while not process.stdout.readline().startswith("memory"):  # its sweep has begun then
                self.assertIsNone(process.poll(), "it ended before it began")
            self.assertTrue(list(run.glob("segment-*")))
            self.assertEqual(stat.S_IMODE(run.stat().st_mode), 0o700)
            for path in run.iterdir():
                self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600, path)
        finally:
            process.terminate()  # mpirun ends its ranks
            process.wait(timeout=30)


if __name__ == "__main__":
    unittest.main()
