# SPDX-License-Identifier: BSD-2-Clause
"""anadrome solve: questions with options of their own, against rows of exact tables."""
import json
import os
import pathlib
import tempfile
import unittest
import xml.etree.ElementTree

import tool

SVG = "{http://www.w3.org/2000/svg}"


class Questions(tool.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def costs(self, **arrays):
        return self.file("costs.json", json.dumps(arrays))

    def ask(self, *words):
        return self.answer("solve", *words, "--json")

    def actions(self, *words):
        return [json.loads(line) for line in tool.run("solve", *words, "--actions").stdout.splitlines()]

    def expect_advances_of_actions(self, *words):
        run = sum(a["last"] - a["first"] for a in self.actions(*words) if a["action"] == "advance")
        self.assertEqual(run, self.ask(*words)["advances"])
        self.assertGreater(self.draw(*words), 20)

    def draw(self, *words):
        picture = self.folder / "picture.svg"
        self.answer("solve", *words, "--json", "--svg", picture)
        root = xml.etree.ElementTree.parse(picture).getroot()
        self.assertEqual(root.tag, SVG + "svg")
        return len(list(root.iter(SVG + "line"))) + len(list(root.iter(SVG + "path"))) + \
            len(list(root.iter(SVG + "polyline"))) + len(list(root.iter(SVG + "rect")))


class Objects(Questions):
    def test_every_row(self):
        def check(row):
            t, m = row["t"], row["m"]
            for size, column in ((1, "bf_a1"), (2, "bf_a2"), (3, "bf_a3")):
                got = self.count("mixed", t, m, "--tape-slots", size)
                self.assertEqual(got["advances"], int(row[column]), row)
            got = self.ask("objects", "--objects", "state", "--steps", t, "--slots", m)
            self.assertEqual(got["advances"], int(row["bf_HSM"]), row)
            # The table charges the tape that was just recorded.
            got = self.ask("objects", "--objects", "tape", "--steps", t, "--slots", int(m) - 1)
            self.assertEqual(got["advances"], int(row["bf_ISM"]), row)
        self.for_each(tool.reference_rows("planners/gruslys_small.csv"), check, 18)

    def test_every_row_with_a_free_start(self):
        def check(row):
            got = self.ask("objects", "--objects", "mixed", "--start", "free", "--stiff", 1, "--steps",
                           row["t"], "--slots", row["m_units"], "--tape-size", row["alpha"])
            self.assertEqual(got["advances"], int(row["C_bruteforce"]), row)
        self.for_each(tool.reference_rows("planners/gruslys_msm_small.csv"), check, 8)

    def test_words_are_known_in_any_case(self):
        self.assertEqual(*(self.ask("objects", "--objects", word, "--steps", 9, "--slots", 4) for word in ("tape", "Tape")))
        self.expect_advances_of_actions("objects", "--objects", "tape", "--steps", 30, "--slots", 8, "--tape-size", 2)


class Double(Questions):
    def test_every_row_of_an_interval(self):
        def check(row):
            got = self.ask("double", "--steps", row["interval_C"], "--tape-size", row["alpha"])
            self.assertEqual((got["cost"], got["advances"]),
                             (int(row["min_local_memory_enum"]),
                              int(row["min_replay_forwards_enum"])), row)
        self.for_each(tool.reference_rows("planners/double_inner_small.csv"), check, 6)

    def test_every_row_of_two_levels(self):
        def check(row):
            got = self.ask("double", "--steps", row["n"], "--tape-size", row["alpha"],
                           "--transfer-steps", row["min_interval"])
            self.assertEqual((got["cost"], got["advances"]),
                             (int(row["enum_min_local_memory"]),
                              int(row["enum_forwards_at_that_memory"])), row)
        self.for_each(tool.reference_rows("planners/double_small.csv"), check, 48)

    def test_picture(self):
        got = self.ask("double", "--steps", 1000, "--transfer-steps", 34)
        self.assertEqual((got["interval"], got["off_chip"]), (34, 30))
        self.assertGreater(self.draw("double", "--steps", 100, "--transfer-steps", 20), 20)


class LeastMemory(Questions):
    def test_every_row(self):
        for number, row in enumerate(tool.reference_rows("planners/hong_small.csv")):
            sizes = self.file(f"sizes{number}", row["sizes c0..cn"])
            for accounting, column in (("static", "peakA_opt"), ("released", "peakB_opt")):
                got = self.ask("least_memory", "--sizes", sizes, "--accounting", accounting)
                self.assertEqual(got["cost"], int(row[column]), row)
                self.assertEqual(got["lower_bound"], got["cost"])

    def test_actions_and_picture(self):
        sizes = self.file("sizes", "1\n" * 61)
        words = ("least_memory", "--sizes", sizes)
        self.assertEqual(self.ask(*words)["cost"], 12)
        run = [0] * 60
        for action in self.actions(*words):
            if action["action"] == "advance":
                for step in range(action["first"], action["last"]):
                    run[step] += 1
        self.assertLessEqual(max(run), 2)
        self.assertGreater(self.draw(*words), 20)

    def test_sizes_may_have_commas_and_remarks(self):
        sizes = self.file("sizes", "1, 1, 1, 1  # of x_0 to x_3\n")
        self.assertEqual(self.ask("least_memory", "--sizes", sizes)["cost"], 3)


class Join(Questions):
    def test_every_row(self):
        def check(row):
            got = self.ask("join", "--branches", row["branch_lengths"].replace("+", ","), "--slots", row["slots"],
                           "--inputs", row["inputs"])
            self.assertEqual(got["advances"], int(row["bruteforce_advances"]), row)
        self.for_each(tool.reference_rows("planners/join_small.csv"), check, 15)

    def test_objectives(self):
        words = ("join", "--branches", "20,20", "--slots", 4)
        self.assertEqual(self.ask(*words)["advances"], 99)
        self.assertEqual(self.ask(*words, "--objective", "reducible")["advances"], 118)
        self.expect_advances_of_actions("join", "--branches", "20,20,8", "--slots", 6)


class Offload(Questions):
    def test_every_row(self):
        for row in tool.reference_rows("planners/offload_small.csv"):
            f, b, a, transfer = ([int(x) for x in row[key].split()] for key in
                                 ("f_1..f_{n-1}", "b_1..b_n", "a_0..a_{n-1}", "transfer_times"))
            words = ("offload", "--costs",
                     self.costs(f=f, b=b, a=a, transfer=transfer), "--fast-memory", row["M"])
            if row["classC_opt"] == "inf":
                self.assertEqual(tool.run("solve", *words, "--json").returncode, 1, row)
                continue
            got = self.ask(*words)
            self.assertEqual(got["cost"], int(row["classC_opt"]), row)
            self.assertGreaterEqual(got["cost"], int(row["exact_both"]), row)

    def test_a_bandwidth_for_transfers(self):
        lines = self.file("costs", "1.5 3 10\n" * 12)
        got = self.ask("offload", "--costs", lines, "--fast-memory", 40, "--bandwidth", 4)
        costs = self.costs(f=[1.5] * 11, b=[3] * 12, a=[10] * 12, transfer=[2.5] * 12)
        self.assertEqual(got, self.ask("offload", "--costs", costs, "--fast-memory", 40))
        self.assertGreaterEqual(got["cost"], got["lower_bound"])
        alone = self.ask("offload", "--costs", costs, "--fast-memory", 40, "--allow", "recompute")
        self.assertGreater(alone["cost"], got["cost"])
        self.assertGreater(self.draw("offload", "--costs", costs, "--fast-memory", 40), 20)
        spans = self.actions("offload", "--costs", costs, "--fast-memory", 40)
        self.assertEqual(max(span["end"] for span in spans), got["cost"])

    def test_costs_that_json_writes_with_an_exponent(self):
        small = self.file("small", '{"f": [1, 1], "b": [1, 1, 1], "a": [1, 1, 1], "transfer": [1e-05, 5e-5, 1]}')
        large = self.file("large", '{"f": [1, 1], "b": [1, 1, 1], "a": [1, 1, 1], "transfer": [1e16, 1, 1]}')
        for costs in (small, large):
            self.assertEqual(self.ask("offload", "--costs", costs, "--fast-memory", 10)["cost"], 5)


class UnevenTapes(Questions):
    def test_every_row(self):
        for row in tool.reference_rows("planners/het_chain_small.csv"):
            steps = int(row["n"])
            column = lambda name: [int(word) for word in row[name].split()][:steps]
            costs = self.costs(f=column("f"), b=column("b"), a=column("hs(x0..xn)"),
                               tape=column("ts"))
            got = self.ask("uneven_tapes", "--costs", costs, "--memory", row["M"])
            self.assertEqual(got["cost"], int(row["persistent_dp"]), row)

    def test_lines_actions_and_picture(self):
        lines = self.file("chain", "".join(f"1.5 3 10 {20 + k % 3}\n" for k in range(12)))
        words = ("uneven_tapes", "--costs", lines, "--memory", 60)
        got = self.ask(*words)
        actions = self.actions(*words)
        self.assertEqual(sum(a["action"] == "adjoint" for a in actions), 12)
        self.assertEqual(sum(a["action"] == "keep_tape" for a in actions), got["tapes"])
        self.assertEqual(got["cost"], 1.5 * got["advances"] + 36)
        self.assertGreater(self.draw(*words), 12)
        self.assertEqual(tool.run("solve", "uneven_tapes", "--json", "--costs", lines, "--memory", 5).returncode, 1)


class Graph(Questions):
    def test_every_row(self):
        path = pathlib.Path(os.environ["ANADROME_TEST_REFERENCE"]) / "planners/kusumoto_dags.json"
        graphs = json.loads(path.read_text())
        for row in tool.reference_rows("planners/kusumoto_small.csv"):
            dag = graphs[row["dag"]]
            nodes = [{"seconds": time, "bytes": size} for time, size in zip(dag["T"], dag["M"])]
            graph = self.file("step.json", json.dumps({"nodes": nodes, "edges": dag["edges"]}))
            for family, column in (("all", "exact_dp_overhead"), ("ancestors", "approx_dp")):
                got = self.ask("graph", "--graph", graph, "--memory", row["budget"], "--family", family)
                self.assertEqual(got["overhead"], int(row[column]), row)
                if got["peak"] is not None:  # by a stricter account than the table's
                    self.assertLessEqual(got["peak"], int(row["budget"]))
            got = self.ask("graph", "--graph", graph, "--memory", row["budget"], "--prefer", "memory")
            self.assertEqual(got["overhead"], int(row["memory_centric_overhead"]), row)

    def test_actions_and_picture(self):
        nodes = [{"seconds": 1, "bytes": 10} for _ in range(9)]
        graph = self.file("step.json", json.dumps(
            {"nodes": nodes, "edges": [[k, k + 1] for k in range(8)]}))
        words = ("graph", "--graph", graph, "--memory", 100)
        got = self.ask(*words)
        again = [action for action in self.actions(*words) if action["action"] == "recompute"]
        self.assertEqual(len(again), got["cost"])
        self.assertGreater(got["cost"], 0)
        self.assertLessEqual(got["peak"], 100)
        self.assertGreater(self.draw(*words), 10)
        process = tool.run("solve", "graph", "--json", "--graph", graph, "--memory", 20)
        self.assertEqual((process.returncode, json.loads(process.stdout)["cost"]), (1, None))


class Arguments(Questions):
    def test_are_refused_by_name(self):
        sizes = self.file("sizes", "1 2 x")
        broken = self.file("broken.json", "{")
        loop = self.file("loop.json", '{"nodes": [{"seconds": 1, "bytes": 1}, {"seconds": 1, "bytes": 1}], '
                                      '"edges": [[0, 1], [1, 0]]}')
        vast = self.file("vast.json", '{"nodes": [{"seconds": 1, "bytes": %d}, {"seconds": 1, "bytes": %d}], "edges": []}' %
                         (2**63 - 1, 2**63 - 1))
        for flag, *words in (
                ("--objects", "objects", "--objects", "all", "--steps", 3, "--slots", 3),
                ("--slots", "objects", "--objects", "tape", "--steps", 3),
                ("--memory", "objects", "--steps", 3, "--slots", 3, "--memory", "1GiB"),
                ("--steps", "double"),
                ("--transfer-steps", "double", "--steps", 9, "--transfer-steps", 0),
                ("--sizes", "least_memory"), ("--sizes", "least_memory", "--sizes", sizes),
                ("--sizes", "least_memory", "--sizes", self.folder / "none"),
                ("at least one step", "least_memory", "--sizes", self.file("empty", "")),
                ("--slots", "join", "--branches", "3,3"),
                ("--branches", "join", "--branches", "3,-3", "--slots", 4),
                ("--inputs", "join", "--branches", "3,3", "--slots", 4, "--inputs", "paid"),
                ("--costs", "offload", "--fast-memory", 3),
                ("--costs", "offload", "--fast-memory", 3, "--costs", broken),
                ("--costs", "uneven_tapes", "--costs", broken, "--memory", 3),
                ("--costs", "uneven_tapes", "--costs", self.file("no tapes", "1 2 3"), "--memory", 3),
                ("--graph", "graph", "--graph", broken, "--memory", 3),
                ("cycle", "graph", "--graph", loop, "--memory", 3),
                ("2^60", "graph", "--graph", vast, "--memory", 3),
                ("--svg", "join", "--branches", "20000000,5", "--slots", 4, "--svg", self.folder / "vast.svg"),
                ("--memory", "join", "--branches", "3,3", "--slots", 4, "--memory", "1GiB"),
                ("see anadrome solve join --help", "join", "--slots", 4),
                ("see anadrome solve --help", "joint"),
                ("see anadrome solve --help",)):
            self.assertIn(flag, self.refuse("solve", *words), words)


if __name__ == "__main__":
    unittest.main()
