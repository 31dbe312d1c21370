# SPDX-License-Identifier: BSD-2-Clause
"""layout=shared, which is the default, where each host has a disk of its own: an error that says on which host and what to
set. And of a stranger's run of the same name, which is on one of the disks, no byte is written or read."""
import cluster
from cluster import ASYNC, RESUME

HERE = ("--directory", "/scratch")
CURE = r"n[12].*layout=(node|rank)"
ALONE, BOTH = ["n2"], ["n1", "n2"]


class NodeLocal(cluster.Case):
    def test_says_where_and_what_to_set(self):
        for hosts, words in ((BOTH, ()), (self.LAB.names(), RESUME), (self.LAB.names(), ("--keep",))):
            with self.subTest(words):
                self.assert_error(self.heat(hosts, *ASYNC, *HERE, *words), r"n\d.*layout=(node|rank)")
                self.assert_nothing_left()


class Stranger(cluster.Case):
    """On n2 runs, or lies, what a job of one rank there made; another job of that name comes on n1 and n2."""

    def refused(self, *words, error=CURE):
        before = self.left("n2", "/scratch")
        self.assertIn("anadrome/segment-00000.h5", before)
        self.assert_error(self.heat(BOTH, *ASYNC, *HERE, *words), error)
        self.assertEqual(self.left("n2", "/scratch"), before)
        self.assertEqual(self.left("n1", "/scratch"), {})

    def beside_a_live_one(self, *words):
        alive = self.held(ALONE, *ASYNC, *HERE, *words, at="reverse 200 0")
        self.refused(*words)
        process = self.let_go(alive)
        self.assert_exact(process)
        self.assertNotIn("is not what was written", process.stderr)
        self.assert_nothing_left()

    def over_a_dead_one(self, first, then, error=CURE):
        self.heat(ALONE, *ASYNC, *HERE, *first, at="reverse 200 0")
        self.refused(*then, error=error)

    def test_alive(self):
        self.beside_a_live_one()

    def test_dead(self):
        for keep in (("--keep",), ()):
            with self.subTest(keep=keep):
                self.over_a_dead_one((), keep)
                self.clear()

    def test_what_it_committed_stays(self):
        for words, error in (((), CURE), (RESUME, "on n2 holds a run that was on 1 ranks; start on the same hosts")):
            with self.subTest(words):
                self.over_a_dead_one(RESUME, words, error)
                process = self.heat(ALONE, *ASYNC, *HERE, *RESUME)
                self.assert_exact(process)
                self.assertIn("going on in the reverse sweep", process.stdout)

    def test_kept_files_stay(self):
        self.assert_exact(self.heat(ALONE, *ASYNC, *HERE, "--keep"))
        self.refused()

    def test_live_in_files_of_its_own(self):
        for layout in ("node", "rank"):
            alive = self.held(ALONE, *ASYNC, *HERE, at="reverse 200 0")
            before = self.left("n2", "/scratch")
            self.assert_error(self.heat(BOTH, *ASYNC, *HERE, "--layout", layout), "ANADROME_ERR_BUSY.*n2")
            self.assertEqual(self.left("n2", "/scratch"), before)
            self.assert_exact(self.let_go(alive))
            self.assert_nothing_left()


if __name__ == "__main__":
    cluster.main(hosts=4)
