"""anadrome plan --abstract against every row of the exact tables."""
import unittest

import tool


class Revolve(tool.Case):
    def test_every_row(self):
        def check(row):
            n, s = int(row["n"]), int(row["s"])
            advances = int(row["E_extra_advances"])
            got = self.count("revolve", n, s)
            self.assertEqual((got["advances"], got["cost"], got["writes"], got["reads"]),
                             (advances, advances, 0, 0), row)
        self.for_each(tool.reference_rows("revolve.csv"), check, 132)

    def test_store_all_is_revolve_with_a_slot_for_every_state(self):
        for n in (1, 2, 3, 50):
            got = self.count("store_all", n, max(n - 1, 1), "--uf", 3, "--ub", "2.5")
            self.assertEqual((got["advances"], got["cost"]), (n - 1, 3 * (n - 1) + 2.5 * n))
        self.refuse("plan", "--abstract", "--schedule", "store_all", "--steps", 50, "--slots", 48)


class DiskRevolve(tool.Case):
    def test_every_row(self):
        def check(row):
            n, s, w, r, uf = (int(row[key]) for key in ("n", "cRAM", "w", "r", "uf"))
            got = self.count("disk_revolve", n, s, "--write", w, "--read", r, "--uf", uf)
            self.assertEqual(got["cost"], int(row["opt_multiread"]), row)
            self.assertEqual(got["advances"] * uf + got["writes"] * w + got["reads"] * r,
                             got["cost"], row)
        self.for_each(tool.reference_rows("disk_revolve.csv"), check, 150)


class HRevolve(tool.Case):
    def test_every_row(self):
        def check(row):
            n, s, k, w, r, uf, ub = (int(row[key]) for key in
                                     ("n", "cRAM", "cDISK", "wD", "rD", "uf", "ub"))
            got = self.count("hrevolve", n, s, "--disk-slots", k, "--write", w, "--read", r,
                             "--uf", uf, "--ub", ub)
            overhead = int(row["hrevolve_opt_overhead(excl n*ub)"])
            self.assertEqual(got["cost"], overhead + n * ub, row)
            self.assertEqual(got["advances"] * uf + got["writes"] * w + got["reads"] * r,
                             overhead, row)
        self.for_each(tool.reference_rows("hrevolve.csv"), check, 144)

    def test_multistage_counts_transfers_that_it_does_not_weigh(self):
        prices = ("--disk-slots", 10, "--write", 20, "--read", 20)
        multistage = self.count("multistage", 100, 5, *prices)
        self.assertEqual(multistage["advances"], self.count("revolve", 100, 15)["advances"])
        self.assertEqual(multistage["cost"], multistage["advances"] +
                         20 * (multistage["writes"] + multistage["reads"]))
        self.assertEqual(self.count("hrevolve", 100, 5, *prices)["cost"], 316)
        self.assertGreater(multistage["cost"], 316)


class Mixed(tool.Case):
    def test_every_row(self):
        def check(row):
            got = self.count("mixed", int(row["n"]), int(row["s"]))
            self.assertEqual(got["advances"], int(row["mixed_T"]), row)
        self.for_each(tool.reference_rows("mixed.csv"), check, 132)


class Tapes(tool.Case):
    def test_every_row(self):
        def check(row):
            n = int(row["n"])
            got = self.count("mixed", n, int(row["units"]), "--tape-slots", row["l"],
                             "--stiff", row["stiff"])
            self.assertEqual(got["advances"] - n, int(row["oracle_E"]), row)
        self.for_each(tool.reference_rows("cams_optimum.csv"), check, 288)


class AsyncPeriodic(tool.Case):
    def test_every_row(self):
        """The table anchors up to the end; here the tail is reversed from RAM where that is less."""
        def check(row):
            n, s = int(row["n"]), int(row["s"])
            rho = row["rho"]
            got = self.count("async", n, s, "--interval", row["I"], "--write", rho, "--read", rho,
                             "--adjoint-time", 1)
            self.assertLessEqual(got["advances"] + n, int(row["T_async_steps"]), row)
            self.assertGreaterEqual(got["cost"], got["advances"] + n, row)
        self.for_each(tool.reference_rows("async_periodic.csv"), check, 108)


if __name__ == "__main__":
    unittest.main()
