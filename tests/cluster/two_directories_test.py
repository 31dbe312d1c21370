# SPDX-License-Identifier: BSD-2-Clause
"""directory=FAST,HOME, where the fast directories are on the hosts' own disks and home is on a file system of all hosts: what a host
takes with it is lost as any anchor is. The job goes on with the same bits, on whatever hosts, from no earlier than was promised."""
import math
import re
import shutil

import cluster
import gluster
import launch
import slurm
import slurm_test
from cluster import ASYNC

ALL, PERMUTED, FEWER = ["n1", "n2", "n3", "n4"], ["n4", "n2", "n1", "n3"], ["n3", "n1", "n2", "n1"]
LOST = "the states that were in the fast directory are lost"
REFUSED = r"the fast directory accepts no more states \(rank 2 on n3: .*/scratch/anadrome/.*{}\)"
NAP = 0.01  # seconds; a step takes as long at least
BETWEEN = 0.5  # checkpoint_interval
# Bytes per second of each rank: a state of 8 KiB, one of 4 ranks, takes home 0.1 s, in which there are two others.
FAST, HOME = 2_000_000, 80_000


def words(home):
    return (*ASYNC, "--resume", "--directory", f"/scratch,{home}", "--set", f"checkpoint_interval={BETWEEN}",
            "--set", f"bandwidth_limit={FAST}B/s,{HOME}B/s")


def most_steps_lost(ranks):
    """Steps in checkpoint_interval, in one write to home, which the newest commit waits for, and up to the next anchor; and in half a
    second that commits may take to be synced."""
    write = 4 / ranks * 8192 / HOME
    return math.ceil((BETWEEN + write + 0.5) / NAP) + int(ASYNC[-1])


class Case(cluster.Case):
    @staticmethod
    def at_step(at, go=None):
        slow = {"ANADROME_TEST_NAP": str(round(1000 * NAP))} if at else {}
        return {**cluster.Case.at_step(at, go), **slow}

    def killed(self, hosts, at):
        process = self.heat(hosts, *words("/common"), at=at)
        self.assertNotIn(process.returncode, range(5), launch.said(process))
        self.has_both(*hosts)
        self.age(hosts[0], "/common/anadrome/lock")

    def has_both(self, *hosts, home="/common", name="anadrome"):
        """There are states in the fast directory of each of the hosts, which may be off, and at home."""
        for host in hosts:
            files = self.path(host, f"/scratch/{name}").glob("segment-*")
            self.assertGreater(sum(512 * file.stat().st_blocks for file in files), 1 << 16, host)
        self.LAB.shell("n1", f"[ $(du -k {home}/{name}/segment-00000.h5 | cut -f 1) -gt 64 ]")

    def went_on(self, said, at, ranks, lost):
        """Into the right sweep, not too far back, and with the states of the fast directories or without them."""
        found = re.search(r"going on in the (\w+) sweep, at step (\d+)", said)
        sweep, step = at.split()[:2]
        self.assertTrue(found and found[1] == sweep, said)
        forward = sweep == "forward"
        again = int(step) - int(found[2]) if forward else int(found[2]) - int(step)
        self.assertGreaterEqual(again, 0, said)
        self.assertLessEqual(again, most_steps_lost(ranks), said)
        self.assertEqual(LOST in said, lost, said)
        failed = re.search(r"(\d+) restores failed and recomputed", said)
        self.assertGreater(int(failed[1]) if failed else 0, 10 if lost else -1, said)
        return int(failed[1]) if failed else 0

    def resumes(self, hosts, at, home="/common", lost=True):
        process = self.heat(hosts, *words(home))
        self.assert_exact(process)
        return self.went_on(process.stdout + process.stderr, at, len(hosts), lost)


class OnAnyHost(Case):
    """All processes die, and no disk does unless that is said."""

    def test_permuted(self):
        self.killed(["n1", "n2"], "forward 300 -1")
        self.resumes(["n2", "n1"], "forward 300 -1")
        self.assert_nothing_left()

    def test_same(self):
        for at in ("forward 300 -1", "reverse 200 -1"):
            with self.subTest(at):
                self.killed(ALL, at)
                # Those under way at the time of the commit are not there.
                self.assertLess(self.resumes(ALL, at, lost=False), 5)
                self.assert_nothing_left()

    def test_one_has_a_new_disk(self):
        for at in ("forward 300 -1", "reverse 200 -1"):
            with self.subTest(at):
                self.killed(ALL, at)
                shutil.rmtree(self.path("n3", "/scratch/anadrome"))
                self.resumes(ALL, at)
                self.assert_nothing_left()

    def test_without_one_and_there_once_more(self):
        """What a lost directory had is lost for those that go on later, too, and what the next one has is not."""
        self.killed(ALL, "forward 150 -1")
        process = self.heat(FEWER, *words("/common"), at="forward 300 -1")
        self.assertIn(LOST, process.stderr)
        self.has_both(*FEWER)
        failed = self.resumes(FEWER, "forward 300 -1", lost=False)
        self.assertTrue(5 < failed < 25, failed)  # of the first 30 anchors
        self.assertEqual(list(self.left("n4", "/scratch")), ["anadrome/lock"] + [
            f"anadrome/segment-{number:05}-node-000003.h5" for number in range(2)])

    def test_what_is_at_home_stays_where_there_is_no_fast_directory(self):
        self.LAB.shell("n1", "mkdir /scratch/fast")
        self.LAB.shell("n2", "mkdir /scratch/fast")
        at, fast = "forward 300 -1", ("--directory", "/scratch/fast,/common")
        process = self.heat(["n1", "n2"], *words("/common"), *fast, at=at)
        self.assertNotIn(process.returncode, range(5), launch.said(process))
        self.assert_error(self.heat(["n1", "n3"], *words("/common"), *fast), "ANADROME_ERR_IO: .*n3.*/scratch/fast")
        process = self.heat(["n1", "n2"], *words("/common"), *fast)
        self.assert_exact(process)
        self.went_on(process.stdout + process.stderr, at, 2, lost=False)


class FastDisks(Case):
    """One host's takes no more: all states go home from then on."""

    def test_full(self):
        self.LAB.shell("n3", "fallocate -l $(( $(stat -f -c '%a * %S' /scratch) - 256000 )) /scratch/ballast")
        full = REFUSED.format("No space left on device")
        process = self.heat(ALL, *words("/common"), at="forward 300 -1")
        self.assertRegex(process.stderr, full)
        process = self.heat(ALL, *words("/common"))
        self.assert_exact(process)
        self.assertIn("going on in the forward sweep", process.stdout)
        self.assertRegex(process.stderr, full)
        self.LAB.shell("n3", "rm /scratch/ballast")
        self.assert_nothing_left()


class ReadOnlyFastDisk(Case):
    """As ext4 makes itself after an error of the disk; it stays so."""
    def clear(self):
        self.clear_processes()

    def test_of_one_host(self):
        held = self.held(ALL, *words("/common"), at="forward 200 0")
        device = self.LAB.shell("n3", "basename $(findmnt -n -o SOURCE /scratch)").strip()
        self.LAB.shell("head", f"echo 1 > /sys/fs/ext4/{device}/trigger_fs_error")
        process = self.let_go(held)
        self.assert_exact(process)
        self.assertRegex(process.stderr, REFUSED.format("Read-only file system"))
        self.assert_nothing_left("n1", "n2", "n4")


class OnGluster(Case):
    SERVICES = (gluster,)
    STARTED = []

    @classmethod
    def setUpClass(cls):
        for service in cls.SERVICES:
            if service not in cls.STARTED:
                service.start(cls.LAB)
                cls.STARTED.append(service)

    def clear(self):
        super().clear()
        self.LAB.shell("n1", "rm -rf /gfs/* /rfs/*")


class Hosts(OnGluster):
    """n4 loses its power."""

    def dies(self, home, at, then):
        held = self.held(ALL, *words(home), *cluster.WATCHDOG, at=at, options=cluster.WATCHED)
        try:
            self.lose(held, "n4", self.LAB.off)
            self.has_both(*ALL, home=home)
            self.age("n1", f"{home}/anadrome/lock")
            self.resumes(then, at, home)
        finally:
            self.LAB.on("n4")
            gluster.mount(self.LAB, ["n4"])
        self.assert_nothing_left("n1", "n2", "n3")
        # It is back, with what it had, which is in nobody's way.
        self.assertIn("anadrome/segment-00000-node-000003.h5", self.left("n4", "/scratch"))
        self.age("n4", "/scratch/anadrome/lock")
        self.assert_exact(self.heat(PERMUTED, *words(home)))
        self.assert_nothing_left()
        self.assertEqual(self.LAB.shell("n1", f"ls -A {home}"), "")

    def test_in_the_forward_sweep(self):
        self.dies("/gfs", "forward 300 0", FEWER)

    def test_in_the_reverse_sweep(self):
        self.dies("/rfs", "reverse 200 0", FEWER)


class Nodes(OnGluster, slurm_test.Case):
    """The script of docs/cluster.md that goes on, under Slurm. Its job is on n1, n3 and n4 until n4 fails; n2 takes its place."""
    SERVICES = (gluster, slurm)

    def setUp(self):
        super().setUp()
        own = [word for word in words("/rfs") if word not in ("--directory", "/scratch,/rfs")]
        (self.path("head", slurm_test.WORK) / "adjoint").write_text(
            f"#!/bin/sh\nexec {launch.path_of('cluster_job')} {' '.join(map(str, own))}\n")

    def slurm(self, words, environment=None):
        return super().slurm(words, {"SCRATCH": "/scratch,/rfs", **(environment or {})})

    def fails(self, at):
        self.submit("goes-on.sh", "--nodes=3", "--exclude=n2", at=at)
        self.says("^rank 0 is at")
        self.LAB.off("n4")
        self.comes("PENDING")
        self.go()
        self.has_both("n1", "n3", "n4", home="/rfs", name="case42")
        slurm.come_back(self.LAB, "n4")
        gluster.mount(self.LAB, ["n4"])
        self.slurm("scontrol update NodeName=n4 State=DRAIN Reason=failed")
        self.addCleanup(self.is_used_again, "n4")
        self.slurm(f"scontrol update JobId={self.job} ExcNodeList=")
        self.goes_on(at.split()[0])
        self.assertIn("NodeList=n[1-3]\n", self.slurm(f"scontrol show job {self.job}"))
        self.went_on(self.output(), at, 3, lost=True)
        self.assertEqual(self.LAB.shell("n1", "ls -A /rfs"), "")
        for host in ("n1", "n2", "n3"):
            self.assertEqual(self.left(host, "/scratch"), {}, host)

    def is_used_again(self, host):
        self.slurm(f"scontrol update NodeName={host} State=RESUME")
        slurm.wait_for(self.LAB, [host])

    def test_one_fails_in_the_forward_sweep(self):
        self.fails("forward 300 0")

    def test_one_fails_in_the_reverse_sweep(self):
        self.fails("reverse 200 0")


if __name__ == "__main__":
    cluster.main(hosts=4)
