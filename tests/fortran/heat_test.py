# SPDX-License-Identifier: BSD-2-Clause
"""heat_fortran: the bits of heat_equation's gradient, from an array of the program's and from the library's, at the
first attempt and after kills."""
import re
import unittest

import launch

GRID, STEPS = "67x45", 40
SWEEP = ("--grid", GRID, "--steps", STEPS, "--schedule", "async", "--interval", "3", "--memory", "150KiB")


class HeatCase(launch.DirectoryCase):
    def right(self, ranks, *words, grid=GRID, steps=STEPS):
        """What it prints, with the right gradient."""
        process = self.succeed(ranks, "heat_fortran", *SWEEP, "--directory", self.directory, *words)
        self.assertEqual(re.findall("gradient hash +(.*)", process.stdout), [launch.right_hash(grid, steps)])
        return process.stdout


class Gradient(HeatCase):
    def test_the_same_bits_on_any_number_of_ranks_in_every_way(self):
        for ranks, *words in ((1, "--zero-copy"), (2,), (2, "--schedule", "store_all", "--memory", "4MiB"), (4, "--zero-copy"),
                              (4, "--zero-copy", "--schedule", "revolve", "--work", "3")):
            with self.subTest(ranks=ranks, words=words):
                self.right(ranks, *words)

    def test_ranks_without_cells(self):
        for words in ([], ["--zero-copy"]):
            self.right(4, "--grid", "30x1", "--steps", 20, *words, grid="30x1", steps=20)

    def test_objective_and_norm_are_those_of_c(self):
        pattern = r"objective +(\S+)\ngradient norm +(\S+)"
        of_c = launch.run(1, "heat_equation", *SWEEP, "--directory", self.directory).stdout
        for c, fortran in zip(re.search(pattern, of_c).groups(), re.search(pattern, self.right(2)).groups()):
            self.assertAlmostEqual(float(fortran) / float(c), 1, delta=1e-12)


class Resume(HeatCase):
    def test_a_killed_program_goes_on(self):
        """One life after the other, each killed, until one comes to the end."""
        words = [str(word) for word in (*SWEEP, "--work", 4000, "--resume", "--set", "report=off",
                                        "--set", "checkpoint_interval=0", "--directory", self.directory)]
        killed, went_on, seconds = 0, 0, 0.4
        while True:
            process = launch.run_command(["timeout", "--signal=KILL", str(seconds),
                                          launch.path_of("heat_fortran"), *words])
            went_on += "going on in the " in process.stdout
            if process.returncode == 0:
                break
            self.assertIn(process.returncode, (137, -9), launch.said(process))
            killed += 1
            seconds *= 1.2
        self.assertIn(launch.right_hash(GRID, STEPS), process.stdout)
        self.assertGreater(killed, 0)
        self.assertGreater(went_on, 0)


class Program(HeatCase):
    def test_a_failure_ends_it_with_a_message(self):
        for words, parts in ((["--set", "memroy=1"], ["ANADROME_ERR_ARGUMENT", "'memory'"]),
                             (["--memory", "1B"], ["ANADROME_ERR_MEMORY"])):
            with self.subTest(words=words):
                process = launch.run(2, "heat_fortran", *SWEEP, "--directory", self.directory, *words)
                self.assertNotEqual(process.returncode, 0, launch.said(process))
                for part in parts:
                    self.assertIn(part, process.stderr)


if __name__ == "__main__":
    unittest.main()
