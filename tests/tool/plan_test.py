# SPDX-License-Identifier: BSD-2-Clause
"""anadrome plan: what a job would take. No golden numbers: what must hold whatever they are."""
import pathlib
import re
import tempfile
import unittest
import xml.etree.ElementTree

import tool

SVG = "{http://www.w3.org/2000/svg}"

EXAMPLE = {"--steps": "20000", "--state": "512MiB", "--ranks": "64", "--memory": "8GiB",
           "--step-time": "0.8", "--adjoint-time": "1.6", "--write-rate": "1GB/s",
           "--read-rate": "1.2GB/s"}
SLOW = {"--write-rate": "100MB/s", "--read-rate": "120MB/s", "--step-time": "0.08", "--adjoint-time": "0.16"}


def words(*changes):
    flags = dict(EXAMPLE)
    for change in changes:
        flags.update(change)
    return ["plan"] + [word for flag, value in flags.items() if value is not None for word in (flag, value)]


IN_RUNS = ("store_all", "revolve", "async", "mixed")  # others are streams


class WhatIf(tool.Case):
    def plan(self, *changes):
        return self.answer(*words(*changes), "--json")

    def rows(self, answer):
        return {row["schedule"]: row for row in answer["schedules"] if row["runs"]}

    def least(self, answer):
        """Seconds of the fastest schedule of runs."""
        return min(row["seconds"] for name, row in self.rows(answer).items() if name in IN_RUNS)

    def said(self, *changes):
        """The text, in one line."""
        return " ".join(tool.run(*words(*changes)).stdout.split())


class Example(WhatIf):
    def test_rows_add_up(self):
        for changes in ({}, SLOW, {**SLOW, "--disk": "2TiB", "--steps": "4000"}, {"--tape-size": "2GiB"}):
            answer = self.plan(changes)
            state = 512 * 2**20 * 64
            for row in self.rows(answer).values():
                self.assertGreaterEqual(row["recompute_factor"], 1)
                self.assertGreaterEqual(row["overhead"], -1e-9)
                self.assertLessEqual(row["ram_bytes"], 8 * 2**30)
                self.assertEqual(int(row["bytes_written"]) % state, 0)
                computing = int(row["forward_steps"]) * answer["seconds_step"] + answer["steps"] * answer["seconds_adjoint"]
                self.assertAlmostEqual(row["seconds"] / (computing + row["seconds_waiting"]), 1, 6)

    def test_multistage_writes_to_disk_whatever_there_is_room_for(self):
        row = self.rows(self.plan({"--steps": "1000"}))["multistage"]
        self.assertEqual(row["disk_bytes"], row["bytes_written"])
        few = self.rows(self.plan({"--steps": "1000", "--disk": "3TiB"}))["multistage"]
        self.assertAlmostEqual(int(few["disk_bytes"]) / (3 * 2**40), 1, 1)

    def test_one_of_two_directories_may_have_no_room(self):
        for disk in ("40TiB,0", "0,40TiB"):
            rows = self.rows(self.plan({"--write-rate": "1GB/s,500MB/s", "--read-rate": "1GB/s,500MB/s", "--disk": disk}))
            self.assertGreater(int(rows["async"]["bytes_written"]), 0, disk)
        # Home is so slow that it would not take one state more in time: x_0 goes there all the same.
        slow = {"--write-rate": "1GB/s,10kB/s", "--read-rate": "1GB/s,10kB/s"}
        self.assertIn("async", self.rows(self.plan(slow, {"--disk": "0,unlimited"})))

    def test_the_cheapest_row_that_runs_is_recommended(self):
        for changes in ({}, {"--steps": "10"}, {"--disk": "0"}, {"--disk": "2TiB", "--steps": "5000"}):
            answer = self.plan(changes)
            least = self.least(answer)
            self.assertIn(answer["recommended"], IN_RUNS)
            chosen = self.rows(answer)[answer["recommended"]]
            self.assertLessEqual(chosen["seconds"], least * (1 + 1e-9))
            self.assertTrue(answer["why"])

    def test_where_every_core_computes_a_transfer_takes_its_time_from_the_steps(self):
        changes = {**SLOW, "--disk": "2TiB", "--steps": "4000"}
        free, busy = self.plan(changes), self.answer(*words(changes), "--cores-busy", "--json")
        self.assertEqual((free["cores_busy"], busy["cores_busy"]), (False, True))
        for name, row in self.rows(busy).items():
            transfers = (int(row["bytes_written"]) * free["seconds_write"] + int(row["bytes_read"]) * free["seconds_read"]) / (512 * 2**20 * 64)
            computing = int(row["forward_steps"]) * free["seconds_step"] + free["steps"] * free["seconds_adjoint"]
            self.assertGreaterEqual(row["seconds"], (computing + transfers) * (1 - 1e-9), name)
            self.assertGreaterEqual(row["seconds"], self.rows(free)[name]["seconds"] * (1 - 1e-9), name)
        self.assertAlmostEqual(self.rows(busy)[free["recommended"]]["seconds"], free["seconds_cores_busy"], 6)
        self.assertIn("(--cores-busy)", self.said(changes))

    def test_more_slots_in_single_precision_fit(self):
        few = {"--memory": "10.5GiB", "--state": "1GiB", "--steps": "1000"}
        plain, single = self.plan(few), self.plan(few, {"--slot": "512MiB"})
        self.assertEqual(int(single["slot_bytes"]), 512 << 20)
        for schedule in ("revolve", "async"):
            self.assertLessEqual(self.rows(single)[schedule]["ram_bytes"], 10.5 * 2**30)
            self.assertLessEqual(self.rows(single)[schedule]["seconds"], self.rows(plain)[schedule]["seconds"])
        self.assertLess(int(self.rows(single)["revolve"]["forward_steps"]),
                        int(self.rows(plain)["revolve"]["forward_steps"]))
        on_disk = self.rows(self.plan(few, {"--slot": "512MiB", "--disk": "1TiB"}))["async"]
        self.assertLessEqual(int(on_disk["disk_bytes"]), 2**40)
        self.assertIn("store_all", self.rows(self.plan(few, {"--slot": "512MiB", "--steps": "15"})))
        self.assertNotIn("store_all", self.rows(self.plan(few, {"--steps": "15"})))
        for wrong in ("511MiB", "2GiB"):
            self.assertIn("--slot", self.refuse(*words(few, {"--slot": wrong})))

    def test_steps_run_backwards_are_compared_where_their_ratio_is_given(self):
        far = {"--state": "4GiB", "--ranks": "1", "--memory": "24GiB", "--write-rate": "400MB/s", "--read-rate": None,
               "--steps": "5000", "--step-time": "0.2", "--adjoint-time": "0.4"}
        self.assertNotIn("undo", self.rows(self.plan(far)))
        answer = self.plan(far, {"--undo": "38"})
        row = self.rows(answer)["undo"]
        self.assertEqual(answer["recommended"], "undo")
        self.assertEqual(row["recompute_factor"], 3)
        self.assertAlmostEqual(row["seconds"] / (5000 * (0.2 * 3 + 0.4)), 1, 2)
        self.assertAlmostEqual(int(row["bytes_written"]) / (5000 * 2**32 / 38), 1, 3)
        slower = self.rows(self.plan(far, {"--undo": "38,300ms"}))["undo"]
        self.assertAlmostEqual(slower["seconds"] / (5000 * (0.2 + 2 * 0.3 + 0.4)), 1, 2)
        self.assertEqual(self.plan(far, {"--undo": "2"})["recommended"], "async")
        self.assertNotIn("undo", self.rows(self.plan(far, {"--undo": "38", "--memory": "12GiB"})))
        for wrong in ("0.5", "38,", "38,0", "38,1,1"):
            self.assertIn("ratio", self.refuse(*words(far, {"--undo": wrong})))

    def why_no_undo(self, *changes):
        """With residuals, and without."""
        answer = tool.json.loads(tool.run(*words(*changes), "--json").stdout)
        rows = [row for row in answer["schedules"] if row["schedule"] == "undo"] + [answer["undo_lossy"]]
        return [row["why_not"] for row in rows]

    def test_what_undo_needs_is_the_same_whatever_there_is(self):
        far = {"--state": "4GiB", "--ranks": "1", "--write-rate": "400MB/s", "--read-rate": None, "--undo": "38"}
        for memory in ("1MiB", "4GiB", "6GiB", "15GiB"):
            self.assertEqual(self.why_no_undo(far, {"--memory": memory}), 2 * ["needs 16.0 GiB of memory per rank"])
        self.assertEqual(self.why_no_undo(far, {"--memory": "64GiB", "--disk": "4GiB"}),
                         ["needs room on disk for a residual of every step", "needs room on disk for a state"])

    def test_memory_that_is_nearly_enough_is_said_in_bytes(self):
        process = tool.run(*words({"--memory": "512MiB"}))
        self.assertRegex(process.stdout, r"revolve +cannot run: needs 5368\d{5} bytes of memory")

    def test_steps_run_backwards_without_residuals_are_a_row_of_their_own(self):
        far = {"--state": "4GiB", "--ranks": "1", "--memory": "24GiB", "--write-rate": "400MB/s", "--read-rate": None,
               "--steps": "5000", "--step-time": "0.2", "--adjoint-time": "0.4", "--undo": "38"}
        row = self.plan(far)["undo_lossy"]
        self.assertEqual((row["runs"], row["recompute_factor"]), (True, 2))
        self.assertAlmostEqual(row["seconds"] / (5000 * (0.2 * 2 + 0.4)), 1, 2)
        self.assertEqual(row["interval"], 54)  # a state takes 10.7 s
        compressed = self.plan(far, {"--write-rate": "800MB/s", "--compress": "2"})  # the same disk; these states are not
        self.assertEqual(compressed["undo_lossy"]["interval"], 54)
        self.assertEqual(int(row["bytes_written"]), 93 * 2**32)
        self.assertIn("interval=54 or more", row["remark"])
        text = " ".join(tool.run(*words(far)).stdout.split())
        self.assertRegex(text, r"undo, lossy 2\.00 1 h 0\d min")
        self.assertIn("undo, lossy compress=lossy and interval=54 or more", text)
        slower = self.plan(far, {"--undo": "1,300ms"})["undo_lossy"]
        self.assertAlmostEqual(slower["seconds"] / (5000 * (0.2 + 0.3 + 0.4)), 1, 2)
        few = self.plan(far, {"--disk": "100GiB"})["undo_lossy"]
        self.assertTrue(few["runs"] and few["interval"] > 54)
        self.assertLessEqual(int(few["disk_bytes"]), 100 * 2**30)
        for changes, why in (({"--memory": "12GiB"}, "of memory"), ({"--disk": "1GiB"}, "room on disk"), ({"--tape-size": "1GiB"}, "tapes"),
                             ({"--write-rate": None}, "--write-rate")):
            self.assertIn(why, self.plan(far, changes)["undo_lossy"]["why_not"])
        passes = self.plan(far, {"--passes": "2"})
        self.assertIn("once", passes["undo_lossy"]["passes"]["why_not"])
        self.assertIn("once", self.rows(passes)["undo"]["passes"]["why_not"])
        self.assertNotIn("undo_lossy", self.plan(far, {"--undo": None}))

    def test_no_more_slots_are_used_than_are_asked_for(self):
        short = {**SLOW, "--steps": "1000"}
        for schedule, row in self.rows(self.plan(short, {"--checkpoints": "4"})).items():
            if schedule in ("revolve", "async", "overlapped"):
                self.assertLessEqual(int(row["slots"]), 4, schedule)
                self.assertGreater(row["seconds"], self.rows(self.plan(short))[schedule]["seconds"], schedule)
        ten = {"--steps": "10"}
        self.assertEqual([self.plan(ten, {"--checkpoints": slots})["auto"] for slots in (None, "10", "4")],
                         ["store_all", "store_all", "async"])
        self.refuse(*words({"--checkpoints": "0"}))

    def test_compressed_states_take_less_time_and_room(self):
        short = {**SLOW, "--steps": "4000"}
        plain = self.plan(short)
        compressed = self.plan(short, {"--compress": "4"})
        self.assertEqual(compressed["seconds_write"], plain["seconds_write"])
        self.assertEqual(compressed["seconds_uncompressed"], self.least(plain))
        for schedule, row in self.rows(plain).items():
            less = self.rows(compressed)[schedule]
            self.assertAlmostEqual(less["seconds"] / row["seconds"], 1, 3)
            self.assertEqual(4 * int(less["bytes_written"]), int(row["bytes_written"]))
        small = [self.rows(self.plan(short, {"--disk": disk, "--compress": ratio}))["async"]
                 for disk, ratio in (("1TiB", None), ("1TiB", "4"), ("4TiB", None))]
        self.assertLess(int(small[1]["forward_steps"]), int(small[0]["forward_steps"]))
        self.assertAlmostEqual(int(small[1]["forward_steps"]) / int(small[2]["forward_steps"]), 1, 1)
        self.assertLessEqual(int(small[1]["disk_bytes"]), 2**40)
        for wrong in ("0.5", "2,1GB/s", "x", ""):
            self.assertIn("--compress", self.refuse(*words({"--compress": wrong})))

    def test_revolve_costs_what_it_counts_in_the_abstract(self):
        answer = self.plan()
        row = self.rows(answer)["revolve"]
        counted = self.count("revolve", answer["steps"] + 1, row["slots"])
        self.assertEqual(row["forward_steps"], counted["advances"])

    def test_least_memory_runs_no_step_more_than_twice_in_the_fewest_states(self):
        for steps, states in ((1, 1), (5, 3), (65, 11)):
            row = self.rows(self.plan({"--steps": f"{steps}"}))["least_memory"]
            # s (s + 3) / 2 steps, TURN among them, are reversed with s states.
            self.assertEqual(row["slots"], states)
            self.assertLess(int(row["forward_steps"]), 2 * steps + 1)
            bytes_ = row["ram_bytes"]
            self.assertEqual(bytes_, states * 512 * 2**20)
            same = tool.run(*words({"--steps": f"{steps}", "--memory": f"{bytes_}B"}), "--json")
            self.assertEqual(self.rows(tool.json.loads(same.stdout))["least_memory"], row)
            less = tool.run(*words({"--steps": f"{steps}", "--memory": f"{bytes_ - 1}B"}), "--json")
            self.assertNotIn("least_memory", self.rows(tool.json.loads(less.stdout)))

    def test_text_fits_a_terminal(self):
        for columns, changes in (("20", {}), ("80", {"--disk": "10GiB"}), ("100", SLOW), ("1000", {"--steps": "4000000000000000000"})):
            process = tool.run(*words(changes), env={**tool.os.environ, "COLUMNS": columns})
            self.assertEqual(process.returncode, 0, tool.said(process))
            lines = process.stdout.splitlines()
            self.assertLessEqual(max(map(len, lines)), min(max(int(columns), 80), 100), process.stdout)
            self.assertEqual(lines, [line.rstrip() for line in lines])
            self.assertTrue(process.stdout.isascii())

    def test_text_says_what_json_says(self):
        text = tool.run(*words(SLOW)).stdout
        answer = self.plan(SLOW)
        for row in answer["schedules"]:
            line = next(line for line in text.splitlines() if line[2:].split(" ")[0] == row["schedule"])
            self.assertEqual(line.startswith("* "), row["schedule"] == answer["recommended"])
            if row["runs"]:
                self.assertIn(f"{row['recompute_factor']:.2f}", line)
            else:
                self.assertIn("cannot run", line)

    def test_what_takes_long_to_plan_is_left_out(self):
        text = tool.run(*words({"--steps": "100001"})).stdout
        self.assertIn("  overlapped   not compared: plans of more than 100000 steps", text)
        self.assertIn("Not compared: overlapped.", " ".join(text.split()))

    def test_hrevolve_uses_as_much_of_a_large_disk_as_can_be_planned(self):
        row = self.rows(self.plan({"--disk": "4TiB"}))["hrevolve"]
        self.assertRegex(row["remark"], r"up to \d+ on disk; .*, of 128 that fit: more take long")

    def test_overlapped_is_no_slower_than_revolve_in_its_memory(self):
        for changes in ({**SLOW, "--steps": "700"}, {**SLOW, "--steps": "3000"}):
            rows = self.rows(self.plan(changes))
            self.assertLessEqual(rows["overlapped"]["seconds"], rows["hrevolve"]["seconds"])


class Monotone(WhatIf):
    def best(self, *changes):
        answer = self.plan(*changes)
        times = {name: row["seconds"] for name, row in self.rows(answer).items()}
        times.pop("multistage", None)  # it does not weigh what its transfers cost
        return {**times, "": self.least(answer)}

    def test_more_of_anything_never_costs_more_time(self):
        for flag, values, unit, base in (
                ("--memory", (1, 1.2, 2, 2.5, 5, 9, 33, 513), "GiB", {**SLOW, "--steps": "700", "--disk": "400GiB"}),
                ("--memory", (1, 1.2, 2, 2.5, 5, 9, 33, 513), "GiB", {**SLOW, "--steps": "1000", "--tape-size": "1GiB"}),
                ("--disk", (40, 64, 65, 400, 10000), "GiB", {**SLOW, "--steps": "1000"}),
                ("--write-rate", (1, 50, 100, 150, 9000), "MB/s", {**SLOW, "--steps": "1000"}),
                ("--read-rate", (1, 50, 100, 150, 9000), "MB/s", {"--steps": "300", "--memory": "1GiB"})):
            before = {}
            for value in values:
                now = self.best(base, {flag: f"{value}{unit}"})
                for schedule, seconds in now.items():
                    # A search finds its plan: another one in more room, and not always a better one. The
                    # intervals of async are those of a run, which chooses them for long sweeps.
                    slack = 0.02 if schedule in ("overlapped", "async", "") else 1e-9
                    self.assertLessEqual(seconds, before.get(schedule, seconds) * (1 + slack), (flag, value, schedule, base))
                before = now

    def test_gains_are_what_a_second_question_answers(self):
        base = {**SLOW, "--disk": "10TiB", "--steps": "3000"}
        answer = self.plan(base)
        gains = {gain["resource"]: gain for gain in answer["gains"]}
        self.assertEqual(set(gains), {"memory", "disk rate", "disk space"})
        for resource, change in (("memory", {"--memory": "16GiB"}), ("disk space", {"--disk": "20TiB"}),
                                 ("disk rate", {"--write-rate": "200MB/s", "--read-rate": "240MB/s"})):
            twice = gains[resource]["twice"]
            self.assertAlmostEqual(twice["seconds"], self.best(base, change)[""], 6)
            self.assertGreaterEqual(twice["seconds_gained"], 0)
            self.assertGreaterEqual(gains[resource]["one_more"]["seconds_gained"], 0)


class Limits(WhatIf):
    def why_not(self, schedule, *changes, exit_code=0):
        process = tool.run(*words(*changes), "--json")
        self.assertEqual(process.returncode, exit_code, tool.said(process))
        answer = tool.json.loads(process.stdout)
        row = next(row for row in answer["schedules"] if row["schedule"] == schedule)
        self.assertFalse(row["runs"])
        return row["why_not"]

    def test_rows_that_cannot_run_say_why(self):
        for schedule, words_said, changes in (
                ("store_all", "of memory", {}), ("async", "--write-rate", {"--write-rate": None, "--read-rate": None}),
                ("async", "on disk", {"--disk": "10GiB"}), ("disk_revolve", "at a time", {**SLOW, "--disk": "100GiB"})):
            self.assertIn(words_said, self.why_not(schedule, changes))
        for schedule in ("store_all", "revolve", "async", "hrevolve"):
            self.assertIn("of memory", self.why_not(schedule, {"--memory": "100MiB"}, exit_code=1))

    def test_the_memory_that_is_named_suffices(self):
        why = self.why_not("store_all", {"--steps": "1000"})
        gib = float(re.search(r"needs ([\d.]+) GiB", why)[1])
        answer = self.plan({"--steps": "1000", "--memory": f"{gib + 1}GiB"})
        self.assertEqual(answer["recommended"], "store_all")


class Picture(WhatIf):
    def draw(self, *changes, schedule):
        """What is drawn, and the row that it is of."""
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "sweep.svg"
            answer = self.answer(*words(*changes), "--json", "--schedule", schedule, "--svg", file)
            text = file.read_text()
        return xml.etree.ElementTree.fromstring(text), self.rows(answer)[schedule], text

    def check(self, *changes, schedule):
        svg, row, text = self.draw(*changes, schedule=schedule)
        seconds, forward, writes, reads = map(float, re.match(
            r"([\d.]+) seconds, (\d+) forward steps, (\d+) writes, (\d+) reads",
            svg.find(SVG + "desc").text).groups())
        state = 512 * 2**20 * 64
        self.assertEqual(forward, int(row["forward_steps"]))
        self.assertEqual(writes, int(row["bytes_written"]) / state)
        self.assertEqual(reads, int(row["bytes_read"]) / state)
        # A model of the middle of a sweep: its ends may differ by a transfer.
        self.assertLess(abs(seconds - row["seconds"]), 6 + 1e-5 * seconds)
        self.assertLess(len(text), 1 << 20)
        self.check_text(svg)
        return svg

    def check_text(self, svg):
        """Every text lies within the picture. A letter is taken for 0.62 of its height."""
        width, height = map(float, svg.get("viewBox").split()[2:])
        texts = svg.findall(".//" + SVG + "text")
        self.assertGreater(len(texts), 15)
        for text in texts:
            size = float(text.get("font-size", svg.get("font-size")))
            length = 0.62 * size * len(text.text)
            if text.get("transform"):
                x, y = map(float, re.match(r"translate\(([\d.]+) ([\d.]+)\)", text.get("transform")).groups())
                self.assertTrue(size <= x <= width and length / 2 <= y <= height - length / 2)
                continue
            x, y = float(text.get("x")), float(text.get("y"))
            left = x - {"end": length, "middle": length / 2}.get(text.get("text-anchor"), 0)
            self.assertTrue(left >= 0 and left + length <= width, text.text)
            self.assertTrue(size <= y <= height - 3, text.text)

    def test_every_schedule_in_many_steps_and_few(self):
        base, tape = {**SLOW, "--steps": "700", "--memory": "4GiB"}, {"--tape-size": "700MiB"}
        for schedule, *changes in (
                ("revolve",), ("overlapped",), ("disk_revolve", tape), ("hrevolve",), ("multistage",), ("double",), ("double", tape),
                ("mixed", tape), ("least_memory", {"--memory": "40GiB"}), ("store_all", EXAMPLE, {"--steps": "10"}),
                ("store_all", EXAMPLE, {"--steps": "10", "--tape-size": "200MiB"}), ("async", tape),
                *((name, {"--memory": "8GiB", "--steps": steps}) for name, steps in (
                    ("async", "1"), ("revolve", "2"), ("async", "149"), ("revolve", "151"), ("async", "150000")))):
            self.check(base, *changes, schedule=schedule)

    def test_says_what_it_shows(self):
        svg = self.check({**SLOW, "--steps": "700"}, schedule="async")
        texts = [text.text for text in svg.findall(".//" + SVG + "text")]
        for wanted in ("step", "solver", "I/O", "adjoint", "recompute", "write", "on disk", "slot in use"):
            self.assertIn(wanted, texts)
        self.assertIn("async: 700 steps", svg.find(SVG + "title").text)

    def test_waits_are_drawn(self):
        slow = {**SLOW, "--steps": "300", "--write-rate": "20MB/s", "--read-rate": "5MB/s"}
        svg, row, _ = self.draw(slow, schedule="multistage")
        self.assertGreater(row["seconds_waiting"], 0)
        self.assertIn("wait", [text.text for text in svg.iter(SVG + "text")])
        svg, row, _ = self.draw({"--steps": "10"}, schedule="store_all")
        self.assertEqual(row["seconds_waiting"], 0)
        self.assertNotIn("wait", [text.text for text in svg.iter(SVG + "text")])

    def test_cannot_be_drawn(self):
        process = tool.run(*words(), "--svg", "/absent/x.svg")
        self.assertEqual((process.returncode, process.stdout), (3, ""))
        self.assertIn("--svg /absent/x.svg: No such file", process.stderr)
        self.assertIn("store_all", self.refuse(*words(), "--schedule", "store_all", "--svg", "/tmp/x.svg"))
        with tempfile.NamedTemporaryFile("w+", suffix=".svg") as file:  # is left alone
            file.write("before")
            file.flush()
            for steps in (5000001, 2**62 - 2):
                self.assertIn("--s", self.refuse(*words({"--steps": str(steps)}), "--svg", file.name))
            self.assertEqual(pathlib.Path(file.name).read_text(), "before")
        self.assertIn("--schedule", self.refuse(*words(), "--schedule", "best"))


class Target(WhatIf):
    def target(self, *changes):
        return self.plan({"--memory": None}, *changes)

    def test_is_met_with_the_memory_that_is_named_and_not_with_a_state_less(self):
        for changes in ({"--steps": "400"}, {"--steps": "400", **SLOW}, {"--steps": "300", "--tape-size": "1GiB"}):
            answer = self.target(changes, {"--target": "1.3"})
            self.assertAlmostEqual(answer["seconds"] / answer["seconds_ideal"], 1.3, 9)
            self.assertEqual([row["disk"] for row in answer["answers"]], [False, True])
            for row in answer["answers"]:
                self.assertLessEqual(row["seconds"], answer["seconds"] * (1 + 1e-9))
                limits = {} if row["disk"] else {"--write-rate": None, "--read-rate": None}
                enough = self.plan(changes, limits, {"--memory": f"{row['memory_bytes']}B"})
                self.assertLessEqual(enough["schedules"] and self.rows(enough)[row["schedule"]]["seconds"],
                                     answer["seconds"] * (1 + 1e-9))
                less = int(row["memory_bytes"]) - 513 * 2**20
                if less < 2**30:
                    continue
                rows = self.rows(self.plan(changes, limits, {"--memory": f"{less}B"}))
                for schedule in ("revolve", "async", "mixed", "store_all"):
                    if schedule in rows:
                        self.assertGreater(rows[schedule]["seconds"], answer["seconds"])

    def test_of_a_walltime_is_that_of_the_same_factor(self):
        factor = self.target({"--target": "1.5"})
        self.assertEqual(factor, self.target({"--walltime": f"{factor['seconds']!r}s"}))
        self.assertGreater(int(factor["answers"][0]["memory_bytes"]),
                           int(factor["answers"][1]["memory_bytes"]), "a disk is worth something")

    def test_with_a_memory_says_whether_that_suffices(self):
        in_ram = {"--write-rate": None, "--read-rate": None, "--steps": "400", "--target": "1.3"}
        least = int(self.target(in_ram)["answers"][0]["memory_bytes"])
        for memory, in_time in ((least, True), (2 * least, True), (least - 2**30, False)):
            process = tool.run(*words(in_ram, {"--memory": f"{memory}B"}))
            self.assertEqual(process.returncode, 0 if in_time else 1, process.stdout)
            self.assertIn(f"per rank: {'yes' if in_time else 'no'}, ", process.stdout)

    def test_that_needs_no_disk_or_that_no_memory_meets_is_said(self):
        process = tool.run(*words({"--memory": None, "--target": "1.001", "--write-rate": "1KB/s", "--read-rate": "1KB/s"}))
        self.assertIn("with the disk  out of its reach: ", process.stdout)
        process = tool.run(*words({"--memory": None}), "--walltime", "1s")
        self.assertEqual(process.returncode, 1)
        self.assertIn("no memory suffices", process.stdout)
        self.assertIn("a factor of the ideal", self.refuse(*words({"--memory": None}), "--target", "0.9"))


class Passes(WhatIf):
    BASE = {**SLOW, "--steps": "600", "--passes": "20", "--visit-time": "0.1"}

    def test_in_room_for_every_state_run_no_step(self):
        answer = self.plan(self.BASE, {"--memory": "400GiB"})
        self.assertEqual(answer["recommended"], "store_all")
        self.assertEqual(answer["auto"], "store_all")
        for name in ("store_all", "revolve"):
            passes = self.rows(answer)[name]["passes"]
            for direction, step in (("forward", 0.1), ("reverse", 0.16)):
                self.assertEqual(passes[direction]["forward_steps"], 0)
                self.assertAlmostEqual(passes[direction]["seconds"], 600 * step, 6)
            self.assertAlmostEqual(passes["seconds"], answer["seconds_ideal_passes"], 6)

    def test_add_up_in_every_row(self):
        for count in ("1", "3", "1000001"):
            for changes in ({"--tape-size": "1GiB"}, {"--write-rate": None, "--read-rate": None}):
                answer = self.plan(self.BASE, {"--passes": count}, changes)
                self.assertEqual(answer["passes"], int(count))
                for name, row in self.rows(answer).items():
                    passes = row["passes"]
                    if "why_not" in passes:
                        self.assertTrue(name == "mixed" or name not in IN_RUNS, name)
                        continue
                    self.assertEqual("reverse" in passes, count != "1")
                    reverses = int(count) // 2
                    seconds = (int(count) - reverses) * passes["forward"]["seconds"] + \
                        (reverses * passes["reverse"]["seconds"] if reverses else 0)
                    self.assertAlmostEqual(passes["seconds"] / seconds, 1, 9)
                    self.assertGreaterEqual(passes["seconds"], answer["seconds_ideal_passes"] * (1 - 1e-9))
                    self.assertLessEqual(passes["forward"]["forward_steps"], answer["steps"])

    def test_are_part_of_the_recommendation(self):
        answer = self.plan(self.BASE)
        self.assertEqual((answer["recommended"], answer["auto"]), ("async", "async"))
        in_all = {name: row["seconds"] + row["passes"]["seconds"] for name, row in self.rows(answer).items() if name in IN_RUNS}
        self.assertEqual(min(in_all, key=in_all.get), "async")
        gains = {gain["resource"]: gain for gain in answer["gains"]}
        faster = self.plan(self.BASE, {"--write-rate": "200MB/s", "--read-rate": "240MB/s"})
        best = self.rows(faster)[faster["recommended"]]
        self.assertAlmostEqual(gains["disk rate"]["twice"]["seconds"], best["seconds"] + best["passes"]["seconds"], 6)

    def test_without_x_0_there_are_none(self):
        answer = self.plan(self.BASE, {"--tape-size": "1GiB"})
        self.assertIn("x_0", self.rows(answer)["mixed"]["passes"]["why_not"])
        self.assertIn("mixed has no passes: it does not hold x_0", self.said(self.BASE, {"--tape-size": "1GiB"}))

    def test_text_has_a_table_of_them(self):
        text = tool.run(*words(self.BASE)).stdout
        self.assertIn("  20 passes     steps/n", text)
        self.assertIn("; with 20 passes ", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 80, text)
        table = text[text.index("  20 passes"):]
        for name, row in self.rows(self.plan(self.BASE)).items():
            if name not in IN_RUNS:
                continue
            line = next(line for line in table.splitlines() if line[2:].split(" ")[0] == name)
            for direction in ("forward", "reverse"):
                self.assertIn(f"{row['passes'][direction]['forward_steps'] / 600:.2f}", line)
        self.assertNotIn("pass", tool.run(*words(SLOW)).stdout)
        self.assertNotIn("passes", self.rows(self.plan(SLOW))["async"])

    def test_the_picture_is_of_the_sweep_before_them(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "sweep.svg"
            answer = self.answer(*words(self.BASE), "--json", "--schedule", "async", "--svg", file)
            text = file.read_text()
        row = self.rows(answer)["async"]
        forward, writes = map(int, re.search(r"(\d+) forward steps, (\d+) writes", text).groups())
        self.assertEqual((forward, writes), (int(row["forward_steps"]), int(row["bytes_written"]) // (64 << 29)))

    def test_what_makes_no_sense_is_refused(self):
        for flag, changes in (("--passes", {"--passes": "0"}), ("--passes", {"--steps": "1000001"}),
                              ("--visit-time", {"--passes": None}), ("--passes", {"--memory": None, "--target": "1.2"})):
            self.assertIn(flag, self.refuse(*words(self.BASE, changes)))


class Arguments(WhatIf):
    def test_absurd_and_missing_values_are_refused_by_name(self):
        for flag, values in {"--steps": "0 1e30", "--state": "0 9e18 much", "--memory": "-1 1e30", "--step-time": "0 nan inf 1e300 -1",
                             "--adjoint-time": "x", "--ranks": "0 1e12", "--write-rate": "0B/s 1GB 1,2,3", "--read-rate": "fast",
                             "--disk": "-3 lots 1,2,3", "--tape-size": "0", "--stiff": "yes"}.items():
            for value in values.split():
                self.assertIn(flag, self.refuse("plan", *(f"{name}={text}" for name, text in {**EXAMPLE, flag: value}.items())))

        for flag in ("--steps", "--state", "--memory", "--step-time", "--write-rate"):  # missing
            self.assertIn(flag, self.refuse(*words({flag: None})))

    def test_times_have_units_and_an_adjoint_step_is_two(self):
        plain = self.plan({"--step-time": "0.08", "--adjoint-time": "0.16"})
        self.assertEqual(plain, self.plan({"--step-time": "80ms", "--adjoint-time": None}))
        self.assertIn("expected a number of seconds, e.g. 0.08", self.refuse(*words({"--step-time": "long"})))

    def test_extremes_are_answered(self):
        for changes in ({"--steps": "4611686018427387902"}, {"--ranks": "2147483648"}, {"--state": "1"}, {"--memory": "4EiB"},
                        {"--memory": "4000000PB"}, {"--steps": "1000000000000", "--state": "24", "--memory": "1MiB"},
                        {"--steps": "1000000", "--disk": "100TiB"}, {"--step-time": "1e-9", "--adjoint-time": "0"},
                        {"--step-time": "1e18", "--adjoint-time": "1e18"}, {"--write-rate": "1B/s", "--read-rate": "1B/s"}, {"--steps": "1"}):
            process = tool.run(*words(changes), "--json")
            self.assertIn(process.returncode, (0, 2), tool.said(process))
            if process.returncode == 0:
                answer = tool.json.loads(process.stdout)
                for row in self.rows(answer).values():
                    self.assertGreaterEqual(row["seconds"], answer["seconds_ideal"] * (1 - 1e-9))
            else:
                self.assertEqual(len(process.stderr.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
