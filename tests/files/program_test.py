# SPDX-License-Identifier: BSD-2-Clause
"""Exit codes and messages of heat_equation: one line, whatever the number of ranks."""
import json
import os
import subprocess
import unittest

import launch

ASYNC = ("--grid", "64x48", "--steps", "30", "--schedule", "async", "--interval", "1")


class Program(launch.DirectoryCase):
    def expect(self, exit_code, *words, ranks=3, status="", **how):
        """Runs; returns the one message line."""
        process, _ = self.heat(ranks, *words, **how)
        self.assertEqual(process.returncode, exit_code, launch.said(process))
        lines = launch.errors_of(process)
        self.assertEqual(len(lines), 1, launch.said(process))
        self.assertIn(status, lines[0])
        self.assertEqual(process.stdout, "")
        return lines[0]

    def test_usage(self):
        for words in (["--grd", "3x3"], ["extra"], ["--grid", "3"], ["--steps"],
                      ["--steps", "-1"], ["--repeat", "0"], ["--zero-copy=yes"],
                      ["--integrator", "leapfrog"]):
            with self.subTest(words=words):
                self.expect(2, *words, ranks=1)
        self.assertIn("--grd", self.expect(2, "--grd", "3x3"))

    def test_options(self):
        self.assertRegex(self.expect(2, "--set", "memroy=1"), "'memory'")
        for setting, names in (("memory=lots", "memory"), ("layout=tree", "shared, node, rank"),
                               ("interval=0", "interval"), ("schedule=best", "store_all"),
                               ("name=a/b", "name"), ("name=..", "name"), ("transport=1", "auto"),
                               ("bandwidth_limit=fast", "bandwidth_limit"), ("keep=1", "keep")):
            with self.subTest(setting=setting):
                self.assertIn(names, self.expect(2, "--set", setting, ranks=1))

    def test_help(self):
        process = launch.run(1, "heat_equation", "--help")
        self.assertEqual(process.returncode, 0)
        self.assertIn("--zero-copy", process.stdout)

    def test_integrators(self):
        hashes = {}
        for integrator in ("euler", "rk4"):
            for words in ([], ["--tape"], ["--tape", "--zero-copy"]):
                with self.subTest(integrator=integrator, words=words):
                    results = self.right_heat(3, *ASYNC, "--integrator", integrator, *words)
                    hashes[integrator] = results["gradient_hash"]
        self.assertNotEqual(hashes["rk4"], hashes["euler"])

    def test_files_of_others_are_left_alone(self):
        place = self.directory / "place"
        place.mkdir()
        (place / "thesis.tex").write_text("mine")
        message = self.expect(3, *ASYNC, "--name", "place", status="ANADROME_ERR_ARGUMENT")
        self.assertIn("thesis.tex", message)
        self.assertEqual([path.name for path in place.iterdir()], ["thesis.tex"])

    def test_json_that_cannot_be_written(self):
        self.assertIn("--json", self.expect(2, "--json", self.directory / "missing" / "results"))


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
