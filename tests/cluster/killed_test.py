# SPDX-License-Identifier: BSD-2-Clause
"""Jobs that die go on with the same bits where their files are on a file system that all hosts share, on whatever hosts;
from files of their own each rank goes on on its host. On another one it says so, and what was committed stays."""
import itertools

import cluster
from cluster import ASYNC, RESUME

PHASES = {"forward": "forward 300 -1", "reverse": "reverse 200 -1"}


class Killed(cluster.Case):
    def killed(self, hosts, phase, *words):
        process = self.heat(hosts, *ASYNC, *RESUME, *words, at=PHASES[phase])
        self.assertNotIn(process.returncode, range(5), process.stderr)

    def goes_on(self, hosts, phase, *words):
        process = self.heat(hosts, *ASYNC, *RESUME, *words)
        self.assert_exact(process)
        self.assertIn(f"going on in the {phase} sweep", process.stdout)
        self.assert_nothing_left()

    def shared(self, hosts, others, phases=PHASES):
        words = ("--layout", "shared", "--directory", "/common")
        for phase, then in itertools.product(phases, others):
            with self.subTest(phase=phase, then=then):
                self.killed(hosts, phase, *words)
                self.age(hosts[0], "/common/anadrome/lock")
                self.goes_on(then, phase, *words)


class OnAnyHost(Killed):
    def test_permuted(self):
        self.shared(["n1", "n2"], [["n2", "n1"]], ["reverse"])

    def test_four_hosts(self):
        self.shared(["n1", "n2", "n3", "n4"],
                    [["n4", "n2", "n1", "n3"], ["n1", "n1", "n3", "n3"], ["n1", "n2", "n3", "n1"]])


class OnItsHosts(Killed):
    def stays(self, layout, hosts, others, phases=PHASES):
        words = ("--layout", layout, "--directory", "/scratch")
        for phase in phases:
            with self.subTest(layout=layout, phase=phase):
                self.killed(hosts, phase, *words)
                before = {host: self.left(host, "/scratch") for host in self.LAB.names()}
                for then in others:
                    process = self.heat(then, *ASYNC, *RESUME, *words)
                    self.assert_error(process, r"ANADROME_ERR_ARGUMENT: .*rank \d+.s journal .* n\d.*same hosts")
                    self.assertEqual({host: self.left(host, "/scratch") for host in self.LAB.names()}, before)
                self.goes_on(hosts, phase, *words)

    def test_same(self):
        for layout, phase in itertools.product(("node", "rank"), PHASES):
            words = ("--layout", layout, "--directory", "/scratch")
            self.killed(["n1", "n2"], phase, *words)
            self.goes_on(["n1", "n2"], phase, *words)

    def test_rank_permuted(self):
        self.stays("rank", ["n1", "n2"], [["n2", "n1"]], ["reverse"])

    def test_rank(self):
        self.stays("rank", ["n1", "n2", "n3"], [["n3", "n1", "n2"], ["n1", "n2", "n4"], ["n4", "n1", "n2"]])

    def test_node(self):
        self.stays("node", ["n1", "n1", "n2", "n2"], [["n2", "n2", "n1", "n1"], ["n1", "n1", "n3", "n3"]])


if __name__ == "__main__":
    cluster.main(hosts=4)
