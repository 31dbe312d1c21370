# SPDX-License-Identifier: BSD-2-Clause
"""The option trace: what every rank did when, as other programs read it."""
import collections
import json
import unittest

import launch

STEPS, RANKS = 60, 2
SWEEP = ("--grid", "256x256", "--steps", STEPS, "--memory", "4MiB", "--schedule", "async")
SOLVER, IO = 0, 1


class Trace(launch.DirectoryCase):
    def events(self, *words):
        """{rank: {name: [(start, end, first, last)]}} and the whole trace."""
        trace = self.directory / "trace.json"
        self.right_heat(RANKS, *SWEEP, "--trace", trace, *words)
        whole = json.loads(trace.read_text())
        ranks = {rank: collections.defaultdict(list) for rank in range(RANKS)}
        for event in whole["traceEvents"]:
            if event["ph"] != "X":
                continue
            lane = IO if event["name"] in ("write", "read") else SOLVER
            self.assertEqual(event["tid"], lane)
            steps = event.get("args", {})
            ranks[event["pid"]][event["name"]].append(
                (event["ts"], event["ts"] + event["dur"], *steps.values()))
        return ranks, whole

    def expect_a_sweep(self, names):
        advanced = sorted(step for event in names["advance"] for step in range(*event[2:4]))
        self.assertEqual(advanced, list(range(STEPS)))
        self.assertEqual([event[2] for event in names["adjoint"]], list(reversed(range(STEPS))))
        self.assertEqual(len(names["turn"]), 1)
        turn = names["turn"][0]
        self.assertTrue(all(event[1] <= turn[0] for event in names["advance"]))
        self.assertTrue(all(event[0] >= turn[1] for event in names["adjoint"]))

    def expect_no_overlap(self, names, lane):
        events = sorted(event[:2] for name, all_of_it in names.items() for event in all_of_it
                        if (name in ("write", "read")) == (lane == IO))
        for before, after in zip(events, events[1:]):
            self.assertLessEqual(before[1], after[0] + 0.002)  # microseconds, rounded

    def expect_transfers_in_order(self, names):
        """A state is written after the step that made it, and read before it is used."""
        made = {0: 0.0}
        for _, end, first, last in names["advance"]:
            for step in range(first, last):
                made[step + 1] = end
        self.assertGreater(len(names["write"]), 0)
        self.assertGreater(len(names["read"]), 0)
        written = {}
        for start, end, first, last in names["write"]:
            self.assertGreaterEqual(start, made[last])
            for step in range(first, last + 1):
                written[step] = end
        for start, end, first, last in names["read"]:
            self.assertGreaterEqual(start, written[first])
            used = [event[0] for name in ("recompute", "adjoint") for event in names[name]
                    if event[2] == last]
            self.assertGreaterEqual(max(used), end)

    def test_it_tells_the_whole_sweep(self):
        for words in (("--interval", 1, "--zero-copy"), ("--interval", 2, "--steps-unknown"),
                      ("--interval", 3, "--transport", "mpio", "--layout", "rank")):
            with self.subTest(words=words):
                ranks, whole = self.events(*words)
                self.assertEqual(int(whole["otherData"]["steps"]), STEPS)
                for names in ranks.values():
                    self.expect_a_sweep(names)
                    self.expect_no_overlap(names, SOLVER)
                    self.expect_no_overlap(names, IO)
                    self.expect_transfers_in_order(names)


if __name__ == "__main__":
    unittest.main()
