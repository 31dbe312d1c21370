# SPDX-License-Identifier: BSD-2-Clause
"""Exit codes and messages of heat_equation: one line, whatever the number of ranks."""
import json
import os
import pathlib
import re
import signal
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
                               ("name=a/b", "name"), ("name=..", "name"), ("direct=1", "auto"),
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

    def test_too_little_memory_names_what_is_needed(self):
        for schedule in ("async", "revolve", "auto"):
            message = self.expect(3, *ASYNC, "--schedule", schedule, "--memory", "1B",
                                  status="ANADROME_ERR_MEMORY")
            needed = int(re.search(r"at least (\d+) bytes", message)[1])
            self.right_heat(3, *ASYNC, "--schedule", schedule, "--memory", f"{needed}B")
            self.expect(3, *ASYNC, "--schedule", schedule, "--memory", f"{needed - 1}B",
                        status="ANADROME_ERR_MEMORY")

    def test_store_all_names_a_budget_that_suffices(self):
        message = self.expect(3, *ASYNC, "--schedule", "store_all", "--memory", "100KiB",
                              status="ANADROME_ERR_MEMORY")
        needed = re.search(r"set memory to (\d+B)", message)[1]
        self.right_heat(3, *ASYNC, "--schedule", "store_all", "--memory", needed)

    def test_directory_that_cannot_be_written(self):
        place = self.directory / "place"
        place.mkdir(mode=0o555)
        how = {}
        if os.geteuid() == 0:  # root may write anywhere but in a read-only file system
            how["under"] = ["unshare", "--mount", "sh", "-c",
                            'mount -t tmpfs -o ro tmpfs "$0" && exec "$@"', str(place)]
        message = self.expect(3, *ASYNC, "--directory", place, status="ANADROME_ERR_IO", **how)
        self.assertIn(str(place), message)

    def test_directory_that_is_a_file(self):
        place = self.directory / "place"
        place.write_text("mine")
        message = self.expect(3, *ASYNC, "--name", "place", status="ANADROME_ERR_ARGUMENT")
        self.assertIn("place", message)
        self.assertEqual(place.read_text(), "mine")

    def test_files_of_others_are_left_alone(self):
        place = self.directory / "place"
        place.mkdir()
        (place / "thesis.tex").write_text("mine")
        message = self.expect(3, *ASYNC, "--name", "place", status="ANADROME_ERR_ARGUMENT")
        self.assertIn("thesis.tex", message)
        self.assertEqual([path.name for path in place.iterdir()], ["thesis.tex"])

    def test_json_that_cannot_be_written(self):
        self.assertIn("--json", self.expect(2, "--json", self.directory / "missing" / "results"))

    def live_run(self, layout):
        """A run that has its directory, and is stopped in the middle."""
        words = launch.ranks_command(2, "heat_equation", *ASYNC, "--directory", self.directory,
                                     "--layout", layout, "--work", "2000", "--memory", "100KiB",
                                     "--steps", "200")
        # Killed ranks leave files of OpenMPI's.
        environment = {"OMPI_MCA_btl_vader_backing_directory": str(self.directory)}
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, **environment})
        self.addCleanup(process.terminate)
        launch.wait_for_begin(process)
        self.signal_ranks(process, signal.SIGSTOP)
        return process

    def signal_ranks(self, mpirun, number):
        for children in pathlib.Path(f"/proc/{mpirun.pid}/task").glob("*/children"):
            for child in children.read_text().split():
                os.kill(int(child), number)

    def test_a_name_in_use(self):
        for layout in ("shared", "rank"):
            live = self.live_run(layout)
            for other in ("shared", "rank"):
                message = self.expect(3, *ASYNC, "--layout", other, ranks=2,
                                      status="ANADROME_ERR_BUSY")
                self.assertIn(str(self.directory / "anadrome"), message)
            self.right_heat(2, *ASYNC, "--name", "another")
            self.signal_ranks(live, signal.SIGCONT)
            output, errors = live.communicate(timeout=60)
            self.assertEqual(live.returncode, 0, output + errors)
            self.assertIn(launch.right_hash("64x48", "200"), output)
            self.assertFalse((self.directory / "anadrome").exists())

    def test_a_killed_run_does_not_block_the_next(self):
        live = self.live_run("rank")
        self.signal_ranks(live, signal.SIGKILL)
        live.communicate(timeout=60)
        self.assertTrue(list(self.directory.glob("anadrome/segment-*")))
        self.right_heat(2, *ASYNC)
        self.assertFalse((self.directory / "anadrome").exists())


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
