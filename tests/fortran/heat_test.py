"""heat_fortran against heat_equation: the same members in the JSON file, the same bits in the gradient."""
import json
import unittest

import launch

PROBLEM = ("--grid", "67x45", "--steps", "40")
SWEEP = (*PROBLEM, "--schedule", "async", "--interval", "3", "--memory", "150KiB")


class HeatCase(launch.DirectoryCase):
    def fortran(self, ranks, *words, **how):
        results = self.directory / "fortran.json"
        results.unlink(missing_ok=True)
        process = launch.run(ranks, "heat_fortran", "--directory", self.directory, "--quiet",
                             "--json", results, *words, **how)
        text = results.read_text() if results.exists() else ""
        return process, json.loads(text) if text else None


class Gradient(HeatCase):
    @classmethod
    def setUpClass(cls):
        process = launch.run(1, "heat_equation", *PROBLEM, "--quiet", "--json", "/dev/stdout")
        cls.of_c = json.loads(process.stdout)

    def expect_c(self, ranks, *words, of_c=None):
        of_c = of_c or self.of_c
        process, results = self.fortran(ranks, *SWEEP, *words)
        self.assertEqual(process.returncode, 0, launch.said(process))
        self.assertEqual(process.stdout + process.stderr, "")
        self.assertEqual(results.keys(), of_c.keys())
        for key in ("gradient_hash", "objective", "gradient_norm", "gradient_norm_kappa",
                    "gradient_norm_u0", "steps", "grid", "state_bytes", "integrator"):
            self.assertEqual(results[key], of_c[key], key)
        self.assertEqual(results["ranks"], ranks)
        return results

    def test_verified_and_the_same_as_in_c(self):
        for ranks in (1, 2, 4):
            with self.subTest(ranks=ranks):
                results = self.expect_c(ranks, "--verify", "--taylor", "--dot-test")
                self.assertIs(results["verified"], True)
                self.assertGreaterEqual(len(results["taylor_slopes"]), 2)
                for slope in results["taylor_slopes"]:
                    self.assertAlmostEqual(slope, 2, delta=0.1)
                self.assertLess(results["dot_test_error"], 1e-12)
                self.assertEqual(results["forward_steps_taken"], results["forward_steps_planned"])

    def test_stages_computed_again_and_stages_as_a_tape(self):
        rk4 = ("--integrator", "rk4")
        process = launch.run(1, "heat_equation", *PROBLEM, *rk4, "--quiet", "--json", "/dev/stdout")
        of_c = json.loads(process.stdout)
        self.assertNotEqual(of_c["gradient_hash"], self.of_c["gradient_hash"])
        for words in (["--taylor", "--dot-test"], ["--tape"], ["--tape", "--callbacks", "--zero-copy"]):
            with self.subTest(words=words):
                results = self.expect_c(2, *rk4, *words, "--memory", "300KiB", "--verify", of_c=of_c)
                self.assertIs(results["verified"], True)
                self.assertEqual(results["tape"], "--tape" in words)
        self.assertIs(self.expect_c(2, "--tape", "--verify")["verified"], True)

    def test_every_way_to_use_the_library(self):
        for words in (["--zero-copy"], ["--callbacks"], ["--steps-unknown"], ["--zero-copy", "--callbacks"],
                      ["--zero-copy", "--steps-unknown"], ["--callbacks", "--steps-unknown"],
                      ["--repeat", "2", "--zero-copy"], ["--work", "3"],
                      ["--schedule", "revolve"], ["--schedule=store_all", "--memory=4MiB"]):
            with self.subTest(words=words):
                self.assertIs(self.expect_c(2, *words, "--verify")["verified"], True)

    def test_ranks_without_cells(self):
        words = ("--grid", "30x1", "--steps", "20", "--schedule", "async", "--zero-copy", "--verify")
        process, results = self.fortran(4, *words)
        self.assertEqual(process.returncode, 0, launch.said(process))
        process = launch.run(1, "heat_equation", *words, "--quiet", "--json", "/dev/stdout")
        self.assertEqual(results["gradient_hash"], json.loads(process.stdout)["gradient_hash"])

    def test_log(self):
        log = self.directory / "log"
        self.expect_c(2, "--log", log)
        kinds = [line.split()[2] for line in log.read_text().splitlines()]
        self.assertEqual(kinds.count("turn"), 1)
        self.assertEqual(kinds.count("adjoint"), 40)
        self.assertEqual(kinds[0], "advance")


class Resume(HeatCase):
    def test_a_killed_program_goes_on(self):
        """One life after the other, each killed, until one comes to the end."""
        process = launch.run(1, "heat_equation", *PROBLEM, "--quiet", "--json", "/dev/stdout")
        expected = json.loads(process.stdout)["gradient_hash"]
        words = [str(word) for word in (*SWEEP, "--work", 600, "--resume", "--set", "report=off",
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
        self.assertIn(expected, process.stdout)
        self.assertGreater(killed, 0)
        self.assertGreater(went_on, 0)


class Program(HeatCase):
    def expect(self, exit_code, words, *parts):
        process, results = self.fortran(2, *words)
        self.assertEqual(process.returncode, exit_code, launch.said(process))
        lines = [line for line in process.stderr.splitlines() if line.startswith("heat_fortran: ")]
        self.assertEqual(len(lines), 1, launch.said(process))
        for part in (*parts, *["; see heat_fortran --help"] * (exit_code == 2)):
            self.assertIn(part, lines[0])
        return results

    def test_usage(self):
        self.expect(2, ["--grd", "3x3"], "--grd")
        self.expect(2, ["--grid", "3"], "--grid", "(NXxNY)")
        self.expect(2, ["--steps", "-1"], "--steps")
        self.expect(2, ["--verify=yes"], "takes no value")
        self.expect(2, ["--steps"], "needs a value")
        self.expect(2, ["extra"], "extra")
        self.expect(2, ["--log", self.directory / "missing" / "log"], "--log")

    def test_an_option_that_is_refused(self):
        results = self.expect(2, ["--set", "memroy=1"], "ANADROME_ERR_ARGUMENT", "'memory'")
        self.assertIn("'memory'", results["error"])

    def test_a_failure_of_the_library(self):
        results = self.expect(3, [*SWEEP, "--memory", "1B"], "ANADROME_ERR_MEMORY")
        self.assertIsNone(results["gradient_hash"])
        self.assertIsNone(results["verified"])

    def test_output(self):
        process = launch.run(2, "heat_fortran", *SWEEP, "--directory", self.directory, "--verify")
        self.assertEqual(process.returncode, 0, launch.said(process))
        for words in ("67x45 cells", "schedule async", "gradient hash", "same bits"):
            self.assertIn(words, process.stdout)
        self.assertIn("--verify", launch.run(1, "heat_fortran", "--help").stdout)


class WrongRestore(HeatCase):
    def test_verify_fails(self):
        report = self.directory / "flipped"
        process, results = self.fortran(
            2, "--grid", "64x48", "--steps", "30", "--schedule", "async", "--interval", "1", "--memory",
            "100KiB", "--verify", "--set", "checksum=off",
            environment={"LD_PRELOAD": launch.path_of("flip_read"), "FLIP_READ": "4",
                         "FLIP_REPORT": str(report)})
        self.assertTrue(report.exists())
        self.assertEqual(process.returncode, 1, launch.said(process))
        self.assertIs(results["verified"], False)
        self.assertIn("gradient is wrong", process.stderr)


if __name__ == "__main__":
    unittest.main()
