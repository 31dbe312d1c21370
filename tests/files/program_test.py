# SPDX-License-Identifier: BSD-2-Clause
"""Exit codes and messages of a program: one line, whatever the number of ranks. Its threads, and its memory."""
import json
import os
import subprocess
import unittest

import launch

ASYNC = ("--grid", "64x48", "--steps", "30", "--schedule", "async", "--interval", "1")


class Program(launch.DirectoryCase):
    def expect(self, exit_code, *words, ranks):
        """Runs; returns the one message line."""
        process, _ = self.heat(ranks, *words)
        self.assertEqual(process.returncode, exit_code, launch.said(process))
        lines = launch.errors_of(process)
        self.assertEqual(len(lines), 1, launch.said(process))
        self.assertEqual(process.stdout, "")
        return lines[0]

    def test_exit_codes(self):
        place = self.directory / "place"
        place.mkdir()
        (place / "thesis.tex").write_text("mine")
        for code, ranks, words, said in (
                (2, 3, ("--grd", "3x3"), "--grd"), (2, 1, ("extra",), "extra"), (2, 1, ("--steps",), "--steps"),
                (2, 1, ("--grid", "3"), "--grid"), (2, 1, ("--steps", "-1"), "--steps"),
                (2, 1, ("--zero-copy=yes",), "--zero-copy"),
                (2, 2, ("--json", self.directory / "missing" / "results"), "--json"),
                (2, 3, ("--set", "memroy=1"), "'memory'"), (2, 1, ("--set", "name=.."), "name"),
                (2, 1, ("--set", "layout=tree"), "shared, node, rank"),
                (3, 3, (*ASYNC, "--name", "place"), "ANADROME_ERR_ARGUMENT.*thesis.tex")):
            with self.subTest(words=words):
                self.assertRegex(self.expect(code, *words, ranks=ranks), said)
        self.assertEqual([path.name for path in place.iterdir()], ["thesis.tex"])
        process = launch.run(1, "heat_equation", "--help")
        self.assertEqual(process.returncode, 0)
        self.assertIn("--zero-copy", process.stdout)


class IoThread(launch.DirectoryCase):
    def test_it_and_the_watch_call_neither_mpi_nor_hdf5(self):
        """While the caller's thread is busy with halos, agreements and files."""
        reports = self.directory / "reports"
        reports.mkdir()
        audited = {"LD_AUDIT": launch.path_of("audit_calls"),
                   "AUDIT_REPORT": str(reports / "of"), "ANADROME_OPTIONS": "watchdog=0.05"}
        ranks = launch.ranks_command(2, "heat_equation", "--directory", self.directory, *ASYNC, "--steps", 200,
                                     "--memory", "100KiB")
        # Only the ranks are audited, not mpirun.
        env = ["env"] + [f"{key}={value}" for key, value in audited.items()]
        process = launch.run_command(ranks[:3] + env + ranks[3:])
        self.assertEqual(process.returncode, 0, launch.said(process))
        counts = [json.loads(path.read_text()) for path in reports.iterdir()]
        self.assertEqual(len(counts), 2)
        for count in counts:
            # The audit saw thousands of calls of the main thread, the library's own and the I/O thread's work.
            self.assertGreater(count["main"], 1000, count)
            self.assertGreater(count["main_from_library"], 100, count)
            self.assertGreater(count["io_transfers"], 60, count)
            self.assertEqual(count["io_thread"], 0, count)
            self.assertEqual(count["other_threads"], 0, count)


class Memory(launch.DirectoryCase):
    def peak(self, *words):
        """The most bytes that a rank was resident with, and what the library says of its own."""
        results = self.directory / "results.json"
        command = launch.ranks_command(2, "heat_equation", "--grid", "1024x512", "--steps", 150, "--quiet",
                                       "--directory", self.directory, "--json", results, *words)
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)  # of mpirun and its children; the largest counts
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return usage.ru_maxrss * 1024, json.loads(results.read_text())["peak_library_bytes"]

    def test_the_process_grows_by_what_the_library_says(self):
        """By some 200 MiB; the statistics are right within 32 MiB."""
        for words in (("--schedule", "async", "--interval", "2"), ("--schedule", "revolve")):
            resident, library = self.peak("--memory", "30MiB", *words)
            more_resident, more_library = self.peak("--memory", "230MiB", *words)
            self.assertGreater(more_library - library, 150 << 20)
            self.assertLessEqual(more_library, 230 << 20)
            self.assertAlmostEqual(more_resident - resident, more_library - library, delta=32 << 20)


if __name__ == "__main__":
    unittest.main()
