# SPDX-License-Identifier: BSD-2-Clause
"""Runs with keep=on leave HDF5 files that HDF5's own tools and h5py read, whatever the layout, and
the states in them are those of a run that keeps every state in memory."""
import json
import os
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
    def reference(self, grid, steps):
        """The states x_0 .. x_n of a run that keeps them all in memory."""
        dump = self.directory / "reference.dump"
        dump.unlink(missing_ok=True)
        self.succeed(RANKS, "dump_states", grid, steps, dump, "schedule=store_all")
        return numpy.fromfile(dump).reshape(steps + 1, -1)

    def keep(self, grid, steps, layout, interval, *words):
        """Over what the test kept before."""
        results = self.right_heat(RANKS, "--grid", grid, "--steps", steps, "--layout", layout,
                                  "--interval", interval, "--schedule", "async", "--set", "keep=on", *words)
        return self.directory / "anadrome", results

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
    ROWS = (("shared", "37x29", 20, 1),
            ("node", "37x29", 20, 3),
            ("rank", "37x29", 20, 3),
            ("shared", "7x5", 2500, 1, "--memory", "2MiB"),  # many states to a write
            ("rank", "9x1", 7, 2),  # ranks without cells
            ("rank", "37x29", 70, 1, "--steps-unknown", "--memory", "128KiB"),  # several segments
            ("shared", "37x29", 20, 2, "--transport", "mpio", "--memory", "64KiB"),
            ("shared", "37x29", 20, 1, "--repeat", "3", "--memory", "64KiB"))

    def test_are_readable_with_every_state_that_was_meant_for_disk(self):
        for layout, grid, steps, interval, *words in self.ROWS:
            with self.subTest(layout=layout, grid=grid, words=words):
                reference = self.reference(grid, steps)
                kept, results = self.keep(grid, steps, layout, interval, *words)
                expected = list(range(0, steps, interval))
                if grid == "7x5":
                    self.assertGreater(results["states_per_write"], 1)
                if "--steps-unknown" in words:
                    self.assertGreater(len(self.segments(kept)), 1)
                self.assertEqual(len(list(kept.glob("segment-00000*"))), RANKS if layout == "rank" else 1)
                self.expect_only_private_files(kept)
                self.expect_verified(kept)
                self.expect_states(kept, reference, expected)
                self.expect_readable_by_tools(kept, reference, expected)
                for path in kept.glob("segment-*.h5"):
                    with h5py.File(path, "r") as segment:
                        self.assertEqual(segment["sweep"][0], 3 if "--repeat" in words else 1)
                if layout == "shared":
                    self.expect_segment_views(kept, reference)
                elsewhere = self.directory / "elsewhere"
                shutil.copytree(kept, elsewhere)
                self.expect_states(elsewhere, reference, expected)
                shutil.rmtree(elsewhere)


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
                 "layout=" + layout, "memory=" + memory]
        seen = self.directory / "seen.dump"
        self.succeed(RANKS, "dump_states", grid, steps, seen, *words)
        reference = self.reference(grid, steps)
        self.assertEqual(seen.read_bytes(), reference.tobytes())
        kept = self.directory / "anadrome"
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

    def test_many_to_a_write_in_a_file_per_rank(self):
        self.check("rank", "16MiB")


class ParallelReader(KeptCase):
    def test_other_numbers_of_ranks(self):
        for grid, steps, interval, memory, readers in (("7x5", 2500, 1, "2MiB", (1, 3)),
                                                       ("37x29", 20, 3, "64KiB", (2, 5))):
            self.reference(grid, steps)
            kept, _ = self.keep(grid, steps, "shared", interval, "--memory", memory)
            for ranks in readers:
                with self.subTest(grid=grid, ranks=ranks):
                    self.succeed(ranks, "read_in_parallel", kept / "segment-00000.h5",
                                 self.directory / "reference.dump")


if __name__ == "__main__":
    unittest.main()
