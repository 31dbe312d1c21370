# SPDX-License-Identifier: BSD-2-Clause
"""Jobs of two ranks that are killed at random, and started again with the same words: the gradient is that of a job nobody
killed, bit by bit. Other numbers of ranks, passes and other faults beside are simulated (docs/design/simulation.md)."""
import json
import os
import random
import re
import subprocess
import time
import unittest

import launch

RESUME = ["resume=on", "checkpoint_interval=0"]
SETUPS = (("schedule=async", "interval=1", "memory=40KiB"),
          ("schedule=async", "interval=3", "memory=60KiB", "layout=rank"),
          ("schedule=async", "interval=2", "memory=40KiB", "layout=node", "transport=buffered"))


class Job(launch.DirectoryCase):
    STEPS = 40

    def job(self, ranks, *words):
        process = launch.run(ranks, "job", self.directory, self.STEPS, *words)
        found = re.search(r"rank 0 gradient (\w+) resumed (\d) operations (\d+) actions (\d+)",
                          process.stdout)
        return process, found


class Killed(Job):
    def kill_and_go_on(self, kills, seed):
        chance = random.Random(seed)
        resumed = 0
        for setup in SETUPS:
            words = setup + tuple(RESUME)
            process, whole = self.job(2, *words)
            self.assertEqual(process.returncode, 0, launch.said(process))
            most = {"--kill-operation": int(whole[3]), "--kill-action": int(whole[4])}
            for _ in range(kills // len(SETUPS)):
                # Once or twice before it may end.
                for _ in range(chance.randint(1, 2)):
                    kind = chance.choice(list(most))
                    at = chance.randint(1, most[kind])
                    killed, _ = self.job(2, *words, kind, at, "--rank", chance.randrange(2))
                    if killed.returncode == 0:  # it went on beyond that point
                        break
                    self.assertNotIn(killed.returncode, (1, 2), launch.said(killed))
                process, found = self.job(2, *words)
                self.assertEqual(process.returncode, 0,
                                 f"{setup} {kind} {at}\n" + launch.said(process))
                self.assertEqual(found[1], whole[1])
                self.assertEqual(os.listdir(self.directory), [])
                resumed += int(found[2])
        print(f"{kills} jobs, {resumed} went on where the one before was")
        self.assertGreater(resumed, 0)

    def test_goes_on_with_the_same_bits(self):
        if os.environ["ANADROME_TEST_FULL"] != "1":
            self.kill_and_go_on(9, 2)
            return
        for batch in range(1, 25):
            self.kill_and_go_on(30, 2000 + batch)


class KilledInTheForwardSweep(launch.DirectoryCase):
    def position(self):
        """The step that the next process would go on from; -1: none yet."""
        looked = launch.run_command([launch.path_of("anadrome_tool"), "inspect", "--json", str(self.directory / "anadrome")])
        runs = json.loads(looked.stdout)["runs"] if looked.stdout else []
        resume = runs[0]["resume"] if runs else None
        self.assertFalse(resume and resume["phase"] != "forward", "the sweep is too short for this test")
        return resume["position"] if resume else -1

    def test_every_life_gets_further(self):
        """Also where no interval is given: a process that goes on must put anchors of its own."""
        words = ("--grid", "256x256", "--steps", "100000", "--work", "40", "--schedule", "async", "--memory", "8MiB",
                 "--set", "checkpoint_interval=0", "--resume", "--quiet", "--directory", self.directory)
        before = -1
        for _ in range(4):
            life = subprocess.Popen([launch.path_of("heat_equation"), *map(str, words)], stdin=subprocess.DEVNULL)
            try:
                until = time.monotonic() + 60
                while self.position() < before + 20:
                    self.assertLess(time.monotonic(), until, f"nothing is committed behind step {before}")
                    self.assertIsNone(life.poll())
            finally:
                life.kill()
                life.wait()
            before = self.position()


class Elsewhere(Job):
    """Files that are not where their rank left them. Directories that differ between ranks are those of node-local disks."""

    def on(self, disks, words):
        """The job with a directory for each rank."""
        command = launch.ranks_command(2, "job", self.STEPS, *words)
        program = f"{command[-len(words) - 2]} {self.directory}/$disk {' '.join(command[-len(words) - 1:])}"
        choose = f"case $OMPI_COMM_WORLD_RANK in 0) disk={disks[0]};; *) disk={disks[1]};; esac"
        return launch.run_command(command[:-len(words) - 2] + ["sh", "-c", f"{choose}; exec {program}"])

    def files(self):
        return {path: path.read_bytes() for path in self.directory.rglob("*") if path.is_file()}

    def expect_refused(self, process, said):
        self.assertEqual(process.returncode, 3, launch.said(process))
        self.assertRegex(process.stderr, said)

    def test_a_commit_is_refused_and_stays(self):
        words = SETUPS[1] + tuple(RESUME)
        _, whole = self.job(2, *words)
        killed, _ = self.job(2, *words, "--kill-action", int(whole[4]) // 2)
        self.assertNotEqual(killed.returncode, 0)
        # Fields of one size: what the other rank's journal says could be read.
        run = self.directory / "anadrome"
        journals = {path: path.read_bytes() for path in run.glob("journal-*")}
        for path, other in zip(sorted(journals), sorted(journals, reverse=True)):
            path.write_bytes(journals[other])
        self.expect_refused(self.job(2, *words)[0], "the journal of rank 0 is that of rank 1")
        for path, own in journals.items():
            path.write_bytes(own)

        for disk in ("a", "b", "empty"):
            (self.directory / disk).mkdir()
        first, second = self.directory / "a/anadrome", self.directory / "b/anadrome"
        run.rename(first)
        second.mkdir(0o700)
        for path in first.iterdir():
            if path.stem.endswith("-000001"):
                path.rename(second / path.name)
        left = self.files()
        for disks, said in ((("b", "a"), "rank 0's journal is on"),
                            (("a", "empty"), "rank 1's journal was on"),
                            (("empty", "b"), "rank 0's journal was on")):
            self.expect_refused(self.on(disks, words), f"ANADROME_ERR_ARGUMENT: .*{said}.*resume=off")
            self.assertEqual(self.files(), left)
        for path in second.iterdir():
            path.rename(first / path.name)
        first.rename(run)
        process, found = self.job(2, *words)
        self.assertEqual((process.returncode, found[1], found[2]), (0, whole[1], "1"), launch.said(process))


if __name__ == "__main__":
    unittest.main()
