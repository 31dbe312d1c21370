# SPDX-License-Identifier: BSD-2-Clause
"""anadrome count against exact tables: each flag arrives, and each number is said."""
import json
import tempfile
import unittest

import tool


class Tables(tool.Case):
    def test_store_all_is_revolve_with_a_slot_for_every_state(self):
        for n in (1, 2, 3, 50):
            got = self.count("store_all", n, max(n - 1, 1), "--uf", 3, "--ub", "2.5")
            self.assertEqual((got["advances"], got["cost"]), (n - 1, 3 * (n - 1) + 2.5 * n))
        self.refuse("count", "store_all", "--steps", 50, "--slots", 48)

    def test_disk_revolve(self):
        def check(row):
            n, s, w, r, uf = (int(row[key]) for key in ("n", "cRAM", "w", "r", "uf"))
            got = self.count("disk_revolve", n, s, "--write", w, "--read", r, "--uf", uf)
            self.assertEqual(got["cost"], int(row["opt_multiread"]), row)
            self.assertEqual(got["advances"] * uf + got["writes"] * w + got["reads"] * r, got["cost"], row)
        self.for_each(tool.reference_rows("disk_revolve.csv"), check, 15)

    def test_hrevolve(self):
        def check(row):
            n, s, k, w, r, uf, ub = (int(row[key]) for key in ("n", "cRAM", "cDISK", "wD", "rD", "uf", "ub"))
            got = self.count("hrevolve", n, s, "--disk-slots", k, "--write", w, "--read", r, "--uf", uf, "--ub", ub)
            overhead = int(row["hrevolve_opt_overhead(excl n*ub)"])
            self.assertEqual(got["cost"], overhead + n * ub, row)
            self.assertEqual(got["advances"] * uf + got["writes"] * w + got["reads"] * r, overhead, row)
        self.for_each(tool.reference_rows("hrevolve.csv"), check, 16)

    def test_multistage_counts_transfers_that_it_does_not_weigh(self):
        prices = ("--disk-slots", 10, "--write", 20, "--read", 20)
        multistage = self.count("multistage", 100, 5, *prices)
        self.assertEqual(multistage["advances"], self.count("revolve", 100, 15)["advances"])
        self.assertEqual(multistage["cost"], multistage["advances"] + 20 * (multistage["writes"] + multistage["reads"]))
        self.assertEqual(self.count("hrevolve", 100, 5, *prices)["cost"], 316)
        self.assertGreater(multistage["cost"], 316)

    def test_mixed(self):
        def check(row):
            got = self.count("mixed", int(row["n"]), int(row["s"]))
            self.assertEqual(got["advances"], int(row["mixed_T"]), row)
        self.for_each(tool.reference_rows("mixed.csv"), check, 12)
        for tape, stiff, advances in ((1, 0, 9), (1, 1, 8), (2, 0, 11), (3, 0, 12)):
            self.assertEqual(self.count("mixed", 6, 3, "--tape-slots", tape, "--stiff", stiff)["advances"], advances)

    def test_async_optimum(self):
        """No plan is faster than the optimum; the one that is found is close to it."""
        gaps = []

        def check(row):
            n, s = int(row["n"]), int(row["c_ram_slots"])
            got = self.count("async", n, s, "--write", row["T_write"], "--read", row["T_read"], "--ub", row["t_turn"])
            optimum = int(row["opt_async_makespan"])
            self.assertGreaterEqual(got["cost"], optimum, row)
            self.assertLessEqual(got["cost"], int(row["revolve_only_makespan"]), row)
            gaps.append(got["cost"] / optimum - 1)
        self.for_each(tool.reference_rows("async_optimum.csv"), check, 118)
        self.assertLess(sum(gaps) / len(gaps), 0.02)


def uneven_costs(model, n):
    """Of the steps, or of the states, by the models of the tables."""
    formula = {"uniform1": lambda k: 1, "1+(k%3)": lambda k: 1 + k % 3, "1+(k%2)*3": lambda k: 1 + k % 2 * 3,
               "k+1": lambda k: k + 1, "n-k": lambda k: n - k}[model]
    return [formula(k) for k in range(n)]


class Uneven(tool.Case):
    def plan(self, lines, n, slots):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("\n".join(lines) + "\n")
            file.flush()
            process = tool.run("count", "uneven", "--json", "--steps", n, "--slots", slots, "--costs", file.name)
        return process, json.loads(process.stdout) if process.returncode == 0 else None

    def test_every_row_of_costs(self):
        def check(row):
            n, s = int(row["n"]), int(row["s"])
            process, got = self.plan(map(str, uneven_costs(row["cost_model"], n)), n, s)
            self.assertEqual(process.returncode, 0, tool.said(process))
            self.assertEqual(got["cost"], int(row["opt_extra_cost"]), row)
        self.for_each(tool.reference_rows("uneven_cost.csv"), check, 8)

    def test_every_row_of_sizes(self):
        def check(row):
            n = int(row["n"])
            sizes = uneven_costs(row["size_model"], n)
            process, got = self.plan((f"1 {size}" for size in sizes), n, row["budget"])
            self.assertEqual(process.returncode, 0, tool.said(process))
            self.assertEqual(got["cost"], int(row["opt_extra_cost(-1 infeasible)"]), row)
        self.for_each(tool.reference_rows("uneven_size.csv"), check, 12)
        self.assertEqual(self.plan(("1 4", "1 1"), 2, 3)[0].returncode, 2)  # x_0 is larger than the memory

    def test_seconds_with_decimals_are_exact(self):
        _, got = self.plan(["0.1", "0.25", "0.1 # slow disk", "", "1"], 4, 3)
        self.assertEqual(got["cost"], 0.45)

    def test_files_that_make_no_sense(self):
        for lines, words in ((["1"], "1 lines for 2"), (["1", "x"], "line 2"),
                             (["1", "-1"], "line 2"), (["1 3", "1"], "line 2"),
                             (["1 3 4", "1"], "line 1"), (["1 0", "1 1"], "line 1"),
                             (["1 1.5", "1 1"], "line 1")):
            process, _ = self.plan(lines, 2, 3)
            self.assertEqual(process.returncode, 2, lines)
            self.assertIn(words, process.stderr)
        self.assertIn("absent", self.refuse("count", "uneven", "--steps", 2, "--slots", 2, "--costs", "/absent"))


if __name__ == "__main__":
    unittest.main()
