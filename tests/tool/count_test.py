# SPDX-License-Identifier: BSD-2-Clause
"""anadrome count: actions, very large problems, wrong arguments."""
import json
import pathlib
import subprocess
import unittest

import tool


def actions(schedule, steps, slots, *words):
    process = tool.run("count", schedule, "--actions", "--steps", steps, "--slots", slots, *words)
    if process.returncode != 0:
        raise AssertionError(tool.said(process))
    return [json.loads(line) for line in process.stdout.splitlines()]


class Actions(tool.Case):
    """The streams keep their rules, as the unit tests show; here the words of each action fit the others."""

    def play(self, schedule, steps, slots, *words):
        kept, advances, writes, read = {}, 0, 0, []
        todo = steps
        for action in actions(schedule, steps, slots, *words):
            what, place = action["action"], (action.get("tier"), action.get("slot"))
            if what == "advance":
                advances += action["last"] - action["first"]
            elif what == "adjoint":
                todo -= 1
                self.assertEqual(action["step"], todo)
            elif what == "keep":
                self.assertNotIn(place, kept)
                kept[place] = action["step"]
                writes += action["tier"] == "disk"
            else:
                self.assertIn(what, ("restore", "drop"))
                self.assertEqual(kept[place], action["step"])
                if what == "drop":
                    del kept[place]
                elif action["tier"] == "disk":
                    read.append(action["step"])
        self.assertEqual(todo, 0)
        counted = self.count(schedule, steps, slots, *words)
        # An anchor's state stays in memory while its interval is reversed.
        reads = len(set(read)) if schedule == "async" else len(read)
        self.assertEqual((advances, writes, reads), (counted["advances"], counted["writes"], counted["reads"]),
                         (schedule, steps, slots, words))

    def test_what_is_counted_is_what_is_done(self):
        prices = ("--write", 3, "--read", 2)
        for steps in (1, 2, 30):
            for slots in (1, 3):
                for schedule in ("revolve", "online"):
                    self.play(schedule, steps, slots)
                for restarts in (0, 1):
                    self.play("mixed", steps, slots, "--tape-slots", 2, "--stiff", restarts)
                self.play("disk_revolve", steps, slots, *prices)
                for schedule in ("hrevolve", "multistage"):
                    self.play(schedule, steps, slots, "--disk-slots", 3, *prices)
                for interval in (1, 4, 50):
                    self.play("async", steps, slots, "--interval", interval)
            self.play("store_all", steps, max(steps - 1, 1))

    def test_overlapped_is_the_plan_that_async_counts(self):
        costs = ("--write", 8, "--read", 8, "--ub", 2)
        counted = [self.count(name, 60, 3, *costs) for name in ("overlapped", "async")]
        self.assertEqual([one.pop("schedule") for one in counted], ["overlapped", "async"])
        self.assertEqual(*counted)
        self.assertEqual(list(actions("overlapped", 60, 3, *costs)), list(actions("async", 60, 3, *costs)))

    def test_are_streamed(self):
        command = [tool.os.environ["ANADROME_TEST_TOOL"], "count", "revolve", "--actions", "--steps",
                   "1000000000", "--slots", "20"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            first = [json.loads(process.stdout.readline()) for _ in range(100000)]
            memory = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            process.kill()
        self.assertEqual(first[0]["action"], "keep")
        peak = int(memory.split("VmHWM:")[1].split()[0])
        self.assertLess(peak, 100 * 1024)


class Extremes(tool.Case):
    def test_numbers_beyond_every_machine_word(self):
        """Those of revolve_test.cpp, and n (n - 1) / 2 with one slot."""
        for steps, slots, advances in ((1, 1, 0), (2, 1, 1), (10000, 10**9, 9999), (10**7, 2, 29804240404),
                                       (10**8, 5, 8394095254), (10**9, 20, 13072016240), (10**9, 1, 10**9 * (10**9 - 1) // 2),
                                       (10**18, 3, 1362838944624441581046360), (2**62, 1, 2**61 * (2**62 - 1)),
                                       (2**62, 2, 9337128491186003968533230846), (2**62, 2**62, 2**62 - 1)):
            got = self.count("revolve", steps, slots)
            self.assertEqual((got["advances"], int(got["cost"])), (advances, advances), (steps, slots))

    def test_numbers_from_2_to_the_53_on_are_strings(self):
        words = ("count", "revolve", "--json", "--slots", 1, "--steps")
        below = self.answer(*words, 134217728)  # E = 2^26 (2^27 - 1)
        self.assertEqual(below["advances"], 2**26 * (2**27 - 1))
        self.assertIsInstance(below["advances"], int)
        above = self.answer(*words, 134217729)
        self.assertEqual(above["advances"], str(134217729 * 2**26))

    def test_decimal_costs_are_exact(self):
        got = self.count("revolve", 1000, 3, "--uf", "0.1", "--ub", "0.001")
        self.assertEqual(got["cost"], (got["advances"] * 100 + 1000) / 1000)
        got = self.count("revolve", 2**62, 3, "--uf", "0.5")
        advances = got["advances"]
        self.assertEqual(got["cost"], f"{advances // 2}.5" if advances % 2 else str(advances // 2))

    def test_whatever_is_asked_ends(self):
        for schedule in ("revolve", "async", "overlapped", "mixed", "disk_revolve", "hrevolve", "multistage", "online"):
            for steps in (1, 10**9, 2**62 - 1):
                for slots in (1, 7, 10**9, 2**62):
                    words = ("count", schedule, "--json", "--steps", steps, "--slots", slots,
                             "--disk-slots", 5, "--write", 10, "--read", 10)
                    process = tool.run(*words)
                    self.assertIn(process.returncode, (0, 2), tool.said(process))
                    if process.returncode == 0:
                        self.assertGreaterEqual(int(json.loads(process.stdout)["advances"]), steps - 1, words)
                    else:
                        self.assertEqual(len(process.stderr.splitlines()), 1)


class Arguments(tool.Case):
    def test_a_schedule_is_known_in_any_case_of_its_name(self):
        small, large = (self.answer("count", name, "--steps", 10, "--slots", 3, "--json")
                        for name in ("hrevolve", "HRevolve"))
        self.assertEqual(small, large)

    def test_are_refused_by_name(self):
        good = {"--steps": "10", "--slots": "3"}
        for flag, value in (("--steps", "0"), ("--steps", "-5"), ("--steps", "1.5"),
                            ("--steps", "ten"), ("--steps", "1e19"), ("--steps", "1e400"),
                            ("--steps", "9" * 400), ("--slots", "0"),
                            ("--slots", "4611686018427387905"), ("--slots", "nan"),
                            ("--uf", "-1"), ("--uf", "."), ("--uf", "1e"), ("--uf", "inf"),
                            ("--ub", "0.1234567891"), ("--write", "x"), ("--read", "1e30"),
                            ("--interval", "0"), ("--disk-slots", "-1"), ("--tape-slots", "0"),
                            ("--stiff", "2")):
            words = {**good, flag: value}
            message = self.refuse("count", "revolve", *(f"{key}={text}" for key, text in words.items()))
            self.assertIn(flag, message)
        self.assertIn("store_all, revolve", self.refuse("count", "best", "--steps", 3, "--slots", 3))

    def test_that_are_missing(self):
        self.assertIn("--steps", self.refuse("count", "revolve", "--slots", 3))
        self.assertIn("--slots", self.refuse("count", "revolve", "--steps", 3))
        self.assertIn("SCHEDULE", self.refuse("count", "--slots", 3, "--steps", 3))

    def test_that_another_schedule_has(self):
        self.assertIn("fewer --steps", self.refuse("count", "disk_revolve", "--slots", 3, "--steps", 4 * 10**18))
        base = ("count", "revolve", "--steps", 3, "--slots", 3)
        self.assertIn("--tape-slots", self.refuse(*base, "--tape-slots", 2))
        self.assertIn("--interval", self.refuse(*base, "--interval", 2))
        self.assertIn("--costs", self.refuse(*base, "--costs", "/dev/null"))
        self.assertIn("--costs", self.refuse("count", "uneven", "--steps", 3, "--slots", 3))
        for name in ("double", "least_memory"):
            self.assertIn(f"use anadrome solve {name}", self.refuse("count", name, "--steps", 3, "--slots", 3))
        self.assertIn("--memory", self.refuse(*base, "--memory", "1GiB"))

    def test_costs_that_overflow_128_bits(self):
        self.assertIn("128", self.refuse("count", "revolve", "--steps", 2**62, "--slots", 1, "--uf", 2**62))


if __name__ == "__main__":
    unittest.main()
