# SPDX-License-Identifier: BSD-2-Clause
"""Files of formats 1 to 3 that earlier versions wrote are read, inspected, verified and resumed (README.md says how they came about)."""
import hashlib
import json
import os
import pathlib
import random
import shutil
import unittest

import h5py

import launch

GOLDEN = pathlib.Path(os.environ["ANADROME_TEST_GOLDEN"])


class GoldenCase(launch.DirectoryCase):
    def copy_of(self, name):
        """As the library left it: private, which a repository does not remember."""
        copy = self.directory / "anadrome"
        shutil.copytree(GOLDEN / name / "anadrome", copy)
        copy.chmod(0o700)
        for path in copy.iterdir():
            path.chmod(0o600)
        return copy

    def asked(self, action):
        """What the command says of the one run in the directory."""
        process = launch.run_command([launch.path_of("anadrome_tool"), action, "--json", str(self.directory)])
        self.assertEqual(process.returncode, 0, launch.said(process))
        [run] = json.loads(process.stdout)["runs"]
        self.assertTrue(run["healthy"], run)
        return run


class Kept(GoldenCase):
    FOLDER, RUN_ID, FORMAT = "kept", "f01b595b9e456296279533ff502220a8", 1

    def test_is_inspected_and_verified(self):
        self.copy_of(self.FOLDER)
        run = self.asked("inspect")
        self.assertEqual([run[key] for key in ("state", "run_id", "layout", "steps", "first_step", "newest_step")],
                         ["kept", self.RUN_ID, "shared", 20, 0, 16])
        run = self.asked("verify")
        self.assertEqual((run["blocks_checked"], run["blocks_unchecked"]), (10, 0))

    def place_of_a_state(self, slots):
        return slots.id.get_offset()

    def test_a_changed_byte_is_found(self):
        segment = self.copy_of(self.FOLDER) / "segment-00000.h5"
        with h5py.File(segment, "r") as file:
            self.assertEqual(file.attrs["anadrome_format"], self.FORMAT)
            place = self.place_of_a_state(file["slots/u"])
        with open(segment, "r+b") as file:
            file.seek(place)
            byte = file.read(1)
            file.seek(place)
            file.write(bytes([byte[0] ^ 1]))
        process = launch.run_command([launch.path_of("anadrome_tool"), "verify", str(self.directory)])
        self.assertEqual(process.returncode, 1, launch.said(process))

    def test_hdf5_reads_the_states(self):
        with h5py.File(self.copy_of(self.FOLDER) / "states.h5", "r") as file:
            self.assertEqual(file["slot_step"][:].tolist(), [0, 4, 8, 12, 16])
            self.assertEqual(file["states/u"].shape, (5, 96))
            self.assertEqual(hashlib.sha256(file["states/u"][:].tobytes()).hexdigest(),
                             "0fad2d98e987f756f228645f0f59d395c0110259f7ae1421bdaf80338b4c14b7")


class KeptCompressed(Kept):
    """The same states, through filters of HDF5."""
    FOLDER, RUN_ID, FORMAT = "kept_compressed", "41f1ddd14b4398e146e9e38aa3dfb6e4", 3

    def place_of_a_state(self, slots):
        self.assertEqual(list(slots._filters), ["shuffle", "32004"])
        [chunk] = (slots.id.get_chunk_info(number) for number in range(slots.id.get_num_chunks()))
        self.assertEqual(chunk.filter_mask, 0)
        return chunk.byte_offset + chunk.size // 2


class Killed(GoldenCase):
    def goes_on(self, name, ranks, words, gradients, resume, blocks):
        copy = self.copy_of(name)
        run = self.asked("inspect")
        self.assertEqual((run["state"], run["resume"]["phase"], run["resume"]["position"]), ("dead", *resume))
        run = self.asked("verify")
        self.assertEqual((run["blocks_checked"], run["adjoints_checked"]), (blocks, ranks))
        process = launch.run(ranks, "job", self.directory, *words.split(), "resume=on", "checkpoint_interval=0")
        self.assertEqual(process.returncode, 0, launch.said(process))
        for rank, gradient in enumerate(gradients):
            self.assertIn(f"rank {rank} gradient {gradient} resumed 1 ", process.stdout)
        self.assertFalse(copy.exists())

    def test_in_the_reverse_sweep(self):
        self.goes_on("killed_in_reverse", 1, "24 schedule=async interval=3 memory=40KiB", ["81b1f6408cc86330"],
                     ("reverse", 12), 9)

    def test_in_the_forward_sweep_of_two_ranks(self):
        self.goes_on("killed_forward", 2, "20 schedule=async interval=4 memory=40KiB layout=rank",
                     ["29a3feb1b1cd573d", "28e04213bf99716c"], ("forward", 12), 10)

    def test_with_compressed_states(self):
        with h5py.File(GOLDEN / "killed_compressed/anadrome/segment-00000.h5", "r") as file:
            self.assertEqual(file.attrs["anadrome_format"], 2)
        self.goes_on("killed_compressed", 1, "24 schedule=async interval=3 memory=48KiB compress=lz4 --sparse 1",
                     ["4259f62bc4799ed6"], ("reverse", 9), 9)


class Damaged(GoldenCase):
    JOBS = {"killed_in_reverse": "24 interval=3 memory=40KiB", "killed_forward": "20 interval=4 memory=40KiB layout=rank",
            "killed_compressed": "24 interval=3 memory=48KiB compress=lz4 --sparse 1"}

    def damage(self, chance, path):
        changed = bytearray(path.read_bytes())
        for _ in range(chance.choice([0, 1, 1, 2, 20])):
            at = chance.randrange(min(chance.choice([512, 4096, 1 << 20]), len(changed)))
            changed[at] = chance.choice([changed[at] ^ 1 << chance.randrange(8), 0, 255, chance.randrange(256)])
        at, other, count = (chance.randrange(len(changed)) // 64 * 64 for _ in range(3))
        kind = chance.choice(["", "", "zeros", "end", "blocks"])
        if kind == "zeros":
            changed[at:at + count % 4096] = bytes(chance.choice([0, 8, count % 4096]))
        elif kind == "end":
            del changed[at:]
        elif kind == "blocks":
            changed[at:at + 64], changed[other:other + 64] = changed[other:other + 64], changed[at:at + 64]
        path.write_bytes(changed)

    def test_goes_on_or_says_why_not(self):
        """Never a wrong gradient, which is the job's exit code 1, a signal, or no answer. What was verified goes on."""
        chance, ends = random.Random(int(os.environ.get("ANADROME_TEST_SEED", "20160201"))), set()
        for _ in range(600 if os.environ["ANADROME_TEST_FULL"] == "1" else 20):
            name = chance.choice(sorted(path.parent.name for path in GOLDEN.glob("*/anadrome")))
            copy = self.copy_of(name)
            for path in chance.sample(sorted(copy.iterdir()), chance.choice([1, 2])):
                self.damage(chance, path)
            for action in ("inspect", "verify"):
                checked = launch.run_command([launch.path_of("anadrome_tool"), action, str(copy)], seconds=300)
                self.assertIn(checked.returncode, (0, 1, 2), launch.said(checked))
            if name in self.JOBS:
                words = ["job", self.directory, *self.JOBS[name].split(), "schedule=async", "checkpoint_interval=0"]
                process = launch.run(2 if name == "killed_forward" else 1, *words, "resume=on")
                self.assertIn(process.returncode, (0, 3) if checked.returncode > 0 else (0,), launch.said(process))
                ends.add((checked.returncode, process.returncode, "resumed 1" in process.stdout))
            shutil.rmtree(copy, ignore_errors=True)
        self.assertGreaterEqual(len(ends), 3, ends)


if __name__ == "__main__":
    unittest.main()
