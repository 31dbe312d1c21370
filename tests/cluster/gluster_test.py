# SPDX-License-Identifier: BSD-2-Clause
"""On a file system that is distributed over hosts, when its servers, disks, hosts and links fail: the exact gradient or a clear
error, and `anadrome clean` takes what is left."""
import re
import subprocess
import time

import cluster
import gluster
import launch
from cluster import ASYNC, RESUME

ALL = ["n1", "n2", "n3", "n4"]
ERROR = r"ANADROME_ERR_(IO|NO_SPACE): .*/[gr]fs/"
SEGMENT = "anadrome/segment-00000.h5"


class Case(cluster.Case):
    def clear(self):
        super().clear()
        self.LAB.shell("n1", "rm -rf /gfs/* /rfs/*")

    def clean(self, volume):
        """What is left there goes by `anadrome clean`, on rank 0's host."""
        said = self.LAB.run("n1", launch.path_of("anadrome_tool"), "clean", f"/{volume}")
        self.assertEqual(self.LAB.shell("n1", f"ls -A /{volume}"), "", launch.said(said))

    def on(self, volume, at, *words, **how):
        """A job that waits at that step."""
        return self.held(ALL, *ASYNC, "--directory", f"/{volume}", *words, at=at, seconds=120, **how)


class Servers(Case):
    def setUp(self):
        super().setUp()
        self.addCleanup(gluster.heal, self.LAB)

    def kill(self, volume, *hosts):
        for host in hosts:
            gluster.signal(self.LAB, host, volume, "KILL")

    def has_cleaned(self, volume):
        gluster.heal(self.LAB)
        self.clean(volume)

    def test_one_of_three_copies_is_gone(self):
        for at in ("forward 200 0", "reverse 200 0"):
            with self.subTest(at):
                held = self.on("rfs", at)
                self.kill("rfs", "n2")
                self.assert_exact(self.let_go(held))
                self.has_cleaned("rfs")

    def test_two_of_three_copies_are_gone(self):
        held = self.on("rfs", "reverse 200 0")
        self.kill("rfs", "n2", "n3")
        self.assert_exact_or_error(self.let_go(held), ERROR)
        self.has_cleaned("rfs")

    def test_the_only_copy_is_gone(self):
        for at in ("forward 200 0", "reverse 200 0"):
            with self.subTest(at):
                held = self.on("gfs", at)
                self.kill("gfs", gluster.server_of(self.LAB, SEGMENT))
                self.assertTrue(self.assert_exact_or_error(self.let_go(held), ERROR), "the rest fits in memory")
                self.has_cleaned("gfs")

    def test_a_server_is_away_when_the_job_is_started_again(self):
        """Where it has the only copy of a file that the commit is in: nothing is removed, and the job goes on when it is back."""
        words = (*ASYNC, *RESUME, "--layout", "shared", "--directory", "/gfs")
        for phase, file in (("forward 300 -1", "journal-000002"), ("reverse 200 -1", "journal-000001"),
                            ("reverse 200 -1", "adjoint-000000"), ("reverse 200 -1", "segment-00000.h5")):
            with self.subTest(file=file, phase=phase):
                process = self.heat(ALL, *words, at=phase)
                self.assertNotIn(process.returncode, range(5), process.stderr)
                self.age("n1", "/gfs/anadrome/lock")
                self.kill("gfs", gluster.server_of(self.LAB, f"anadrome/{file}"))
                self.assert_error(self.heat(ALL, *words), r"ANADROME_ERR_(IO|ARGUMENT): .*/gfs/anadrome")
                gluster.heal(self.LAB)
                process = self.heat(ALL, *words)
                self.assert_exact(process)
                self.assertIn(f"going on in the {phase.split()[0]} sweep", process.stdout)
                self.clean("gfs")

    def test_a_server_is_silent_for_a_while(self):
        for volume in ("gfs", "rfs"):
            with self.subTest(volume):
                held = self.on(volume, "reverse 200 0")
                server = gluster.server_of(self.LAB, SEGMENT) if volume == "gfs" else "n2"
                gluster.signal(self.LAB, server, volume, "STOP")
                self.go()
                try:
                    held.process.wait(3 * gluster.PING_SECONDS)
                except subprocess.TimeoutExpired:
                    pass
                gluster.signal(self.LAB, server, volume, "CONT")
                self.assert_exact_or_error(self.let_go(held), ERROR)
                self.has_cleaned(volume)


class Disks(Case):
    def test_without_room(self):
        """1 MiB is left on one server of three copies, then on every server."""
        for hosts, volume in ((["n2"], "rfs"), (gluster.SERVERS, "gfs")):
            with self.subTest(volume):
                for host in hosts:
                    self.LAB.shell(host, "fallocate -l $(( $(stat -f -c '%a * %S' /brick) - 1048576 )) /brick/ballast")
                self.assert_exact_or_error(self.heat(ALL, *ASYNC, "--directory", f"/{volume}"), ERROR)
                gluster.on_all(self.LAB, hosts, "rm /brick/ballast")
                self.clean(volume)


class ReadOnly(Case):
    """As ext4 makes itself after an error of the disk; it stays so."""

    def clear(self):
        self.clear_processes()

    def while_a_job_writes(self, volume, servers):
        held = self.on(volume, "forward 200 0")
        for host in servers:
            device = self.LAB.shell(host, "basename $(findmnt -n -o SOURCE /brick)").strip()
            self.LAB.shell("head", f"echo 1 > /sys/fs/ext4/{device}/trigger_fs_error")
            self.assertNotEqual(self.LAB.run(host, "touch", "/brick/mine").returncode, 0)
        process = self.let_go(held)
        self.assert_exact_or_error(process, ERROR)

    def test_one_of_three_copies(self):
        self.while_a_job_writes("rfs", ["n3"])

    def test_all(self):
        self.while_a_job_writes("gfs", gluster.SERVERS)


class Hosts(Case):
    """watchdog=5,abort ends the ranks that a lost host leaves, and the job goes on without that host."""
    def lost(self, volume, at, lose):
        held = self.on(volume, at, *RESUME, *cluster.WATCHDOG, options=cluster.WATCHED)
        self.lose(held, "n4", lose)
        process = self.heat(["n1", "n2", "n3", "n1"], *ASYNC, *RESUME, "--directory", f"/{volume}")
        self.assert_exact(process)
        self.assertIn(f"going on in the {at.split()[0]} sweep", process.stdout)
        self.clean(volume)

    def test_powered_off(self):
        for volume, at in (("gfs", "forward 200 0"), ("rfs", "reverse 200 0")):
            with self.subTest(at):
                try:
                    self.lost(volume, at, self.LAB.off)
                finally:
                    self.LAB.on("n4")
                    gluster.mount(self.LAB, ["n4"])

    def test_cut_off(self):
        self.addCleanup(self.LAB.mend, "n4")
        self.lost("rfs", "reverse 200 0", self.LAB.cut)
        while self.ranks("n4"):  # it has lost all others, and ends, too
            time.sleep(0.2)


class Healthy(Case):
    def nobody_is_named(self, volume):
        """For 60 s, in which ranks compute and write."""
        process = self.LAB.run("head", *self.command(ALL, "--grid", "128x128", "--steps", 10**7, "--memory", "512KiB",
                                                     "--schedule", "async", "--interval", 100, "--directory", f"/{volume}",
                                                     "--set", "disk=30MiB", "--set", "watchdog=2"), seconds=60)
        self.assertEqual(process.returncode, 124, launch.said(process))
        self.assertNotIn("watchdog", process.stderr)

    def test_one_copy(self):
        self.nobody_is_named("gfs")

    def test_three_copies(self):
        self.nobody_is_named("rfs")


if __name__ == "__main__":
    cluster.main(hosts=4, prepare=gluster.start)
