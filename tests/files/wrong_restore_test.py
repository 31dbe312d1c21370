# SPDX-License-Identifier: BSD-2-Clause
"""One wrong bit in one state that comes back from disk: the library notices, and reads or computes the state again."""
import unittest

import launch

# Memory for few states: with an anchor at every step most of them are read back from disk.
SWEEP = ("--grid", "64x48", "--steps", "30", "--schedule", "async", "--interval", "1", "--memory",
         "100KiB")
RIGHT = launch.right_hash("64x48", "30")


class WrongRestore(launch.DirectoryCase):
    def sweep(self, which, direct="auto", rank=0):
        report = self.directory / "flipped"
        report.unlink(missing_ok=True)
        environment = {"LD_PRELOAD": launch.path_of("flip_read"), "FLIP_REPORT": str(report),
                       "FLIP_RANK": str(rank)} if which else {}
        if which:
            environment["FLIP_READ"] = str(which)
        process, results = self.heat(2, *SWEEP, "--direct", direct, environment=environment)
        self.assertEqual(report.exists(), bool(which))
        return process, results

    def expect_nothing_left(self):
        names = {path.name for path in self.directory.iterdir()} - {"flipped", "results.json"}
        self.assertEqual(names, set())

    def test_without_it_the_gradient_is_right(self):
        process, results = self.sweep(None)
        self.assertEqual(process.returncode, 0, launch.said(process))
        self.assertEqual(results["gradient_hash"], RIGHT)
        self.assertGreater(results["bytes_read"], 0)

    def test_checksums_notice_and_make_good(self):
        for which, direct, rank in ((1, "auto", 1), (4, "auto", 0), (8, "off", 1)):
            with self.subTest(which=which, direct=direct, rank=rank):
                process, results = self.sweep(which, direct, rank)
                self.assertEqual(process.returncode, 0, launch.said(process))
                self.assertEqual(results["gradient_hash"], RIGHT)
                self.expect_nothing_left()

    def test_when_every_read_is_wrong(self):
        """Nothing is left to start from: step and file are named."""
        for direct, rank in (("auto", 1), ("off", 0)):
            with self.subTest(direct=direct, rank=rank):
                process, results = self.sweep("all", direct, rank)
                self.assertEqual(process.returncode, 3, launch.said(process))
                message, = launch.errors_of(process)
                self.assertIn("ANADROME_ERR_CORRUPT", message)
                self.assertIn(f"rank {rank}" if rank else "rank 0", message)
                self.assertIn(f"{self.directory}/anadrome/segment-", message)
                self.assertIn("step 0 ", message)
                self.assertIn("CORRUPT", results["error"])
                self.expect_nothing_left()


if __name__ == "__main__":
    unittest.main()
