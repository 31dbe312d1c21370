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
        for steps, several in ((1, (1,)), (2, (3,)), (30, (1, 3))):
            for slots in several:
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
            for steps, slots in ((1, 2**62), (10**9, 1), (10**9, 10**9), (2**62 - 1, 1), (2**62 - 1, 7), (2**62 - 1, 2**62)):
                words = ("count", schedule, "--json", "--steps", steps, "--slots", slots,
                         "--disk-slots", 5, "--write", 10, "--read", 10)
                process = tool.run(*words)
                self.assertIn(process.returncode, (0, 2), tool.said(process))
                if process.returncode == 0:
                    self.assertGreaterEqual(int(json.loads(process.stdout)["advances"]), steps - 1, words)
                else:
                    self.assertEqual(len(process.stderr.splitlines()), 1)


class Arguments(tool.Case):
    def test_are_refused_by_name(self):
        for flag, values in {"--steps": f"0 -5 1.5 ten 1e19 1e400 {'9' * 400}", "--slots": "0 4611686018427387905 nan",
                             "--uf": "-1 . 1e inf", "--ub": "0.1234567891", "--write": "x", "--read": "1e30", "--interval": "0",
                             "--disk-slots": "-1", "--tape-slots": "0", "--stiff": "2"}.items():
            for value in values.split():
                good = {"--steps": "10", "--slots": "3", flag: value}
                self.assertIn(flag, self.refuse("count", "revolve", *(f"{name}={text}" for name, text in good.items())))
        small, large = (self.answer("count", name, "--steps", 10, "--slots", 3, "--json") for name in ("hrevolve", "HRevolve"))
        self.assertEqual(small, large)

    def test_that_are_missing_or_another_schedule_s(self):
        base = ("--steps", 3, "--slots", 3)
        for said, *words in (
                ("--steps", "revolve", "--slots", 3), ("--slots", "revolve", "--steps", 3), ("SCHEDULE", *base),
                ("store_all, revolve", "best", *base), ("fewer --steps", "disk_revolve", "--slots", 3, "--steps", 4 * 10**18),
                ("--tape-slots", "revolve", *base, "--tape-slots", 2), ("--interval", "revolve", *base, "--interval", 2),
                ("--costs", "revolve", *base, "--costs", "/dev/null"), ("--costs", "uneven", *base),
                ("Is a directory", "uneven", *base, "--costs", "/"),
                ("use anadrome solve double", "double", *base), ("use anadrome solve least_memory", "least_memory", *base),
                ("--memory", "revolve", *base, "--memory", "1GiB"),
                ("128", "revolve", "--steps", 2**62, "--slots", 1, "--uf", 2**62)):
            self.assertIn(said, self.refuse("count", *words))


if __name__ == "__main__":
    unittest.main()
