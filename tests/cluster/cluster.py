# SPDX-License-Identifier: BSD-2-Clause
"""What the tests on a cluster in a box share: jobs of heat_equation on its hosts, and what these leave there."""
import hashlib
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys
import time
import unittest

import launch
import lab

GRID, STEPS = "64x64", 400
SMALL = ("--grid", GRID, "--steps", STEPS, "--memory", "160KiB")  # 4 ranks: a state takes 8 KiB of each
ASYNC = (*SMALL, "--schedule", "async", "--interval", 5)
RESUME = ("--resume", "--set", "checkpoint_interval=0")
GO = "/common/go"
# The ranks that a lost host leaves end, and the daemon of rank 0's host keeps what that said: mpirun may be busy with the lost host for
# half a minute, and then leaves out what ranks said before they ended.
WATCHDOG = ("--set", "watchdog=5,abort")
SAID = "/common/said"
WATCHED = ("--output-filename", SAID)


def hosts_of(hosts):
    """The option -H of mpirun: ranks in the order of the list."""
    runs = []
    for host in hosts:
        if runs and runs[-1][0] == host:
            runs[-1][1] += 1
        else:
            runs.append([host, 1])
    return ",".join(f"{host}:{ranks}" for host, ranks in runs)


class Held:
    """A job that waits at a step until it is let go."""

    def __init__(self, process, seconds):
        self.process, self.said = process, ""
        self.wait_for(r"^rank \d+ is at ", seconds)

    def wait_for(self, pattern, seconds):
        """Until it says so."""
        end = time.monotonic() + seconds
        while not re.search(pattern, self.said, re.MULTILINE):
            readable, _, _ = select.select([self.process.stderr], [], [], max(0, end - time.monotonic()))
            text = os.read(self.process.stderr.fileno(), 65536).decode() if readable else ""
            self.said += text
            if not text:
                self.process.kill()
                raise AssertionError(f"the job did not say '{pattern}': {self.said}")


class Case(unittest.TestCase):
    LAB = None

    def setUp(self):
        self.addCleanup(self.clear)

    def clear(self):
        """Nothing is left of a test: no process, no file."""
        self.clear_processes()
        places = ["/mnt/common", *map(self.LAB.disk, self.LAB.names())]
        self.LAB.shell("head", f"find {' '.join(places)} -mindepth 1 -not -name lost+found -delete")

    def clear_processes(self):
        """Of jobs; the head sees those of all hosts."""
        self.LAB.shell("head", "pkill -KILL -x 'cluster_job|orted|mpirun|prted|prterun' || true")

    def ranks(self, *hosts):
        """How many of the job's processes there are."""
        return sum(int(self.LAB.run(host, "pgrep", "-c", "-x", "cluster_job").stdout) for host in hosts)

    def path(self, host, path):
        """Of a file on a host's /scratch or on /common: a path here."""
        base = "/mnt" if path.startswith("/common") else f"/mnt/hosts/{host}"
        return pathlib.Path(f"/proc/{self.LAB.pid}/root{base}{path.replace('/scratch', '/disk')}")

    def left(self, host, path):
        """Names of files below it, with the hashes of what is in them; of a lock, whose heart beats, the name alone."""
        top = self.path(host, path)
        return {str(file.relative_to(top)): "" if file.name.startswith("lock") else
                hashlib.sha256(file.read_bytes()).hexdigest()
                for file in sorted(top.rglob("*")) if file.is_file()}

    @staticmethod
    def command(hosts, *words, exported=(), options=()):
        """`options`: more of mpirun's."""
        return ["mpirun", "-np", len(hosts), "--map-by", "slot", "-H", hosts_of(hosts), *options,
                *(word for name in exported for word in ("-x", name)), launch.path_of("cluster_job"), *words]

    @staticmethod
    def at_step(at, go=None):
        return {name: value for name, value in (("ANADROME_TEST_AT", at), ("ANADROME_TEST_GO", go)) if value}

    def heat(self, hosts, *words, at=None, seconds=60):
        """The job to its end; `at`: it kills itself there."""
        environment = self.at_step(at)
        return self.LAB.run("head", *self.command(hosts, *words, exported=environment), environment=environment,
                            seconds=seconds)

    def held(self, hosts, *words, at, seconds=60, options=()):
        environment = self.at_step(at, GO)
        command = self.command(hosts, *words, exported=environment, options=options)
        process = self.LAB.start("head", "timeout", "-k", 2, seconds, *command, environment=environment)
        self.addCleanup(process.communicate)
        self.addCleanup(self.clear)
        return Held(process, 30)

    def go(self):
        self.path("head", GO).touch()

    def let_go(self, held):
        self.go()
        out, err = held.process.communicate()
        self.path("head", GO).unlink()
        return subprocess.CompletedProcess(held.process.args, held.process.returncode, out, held.said + err)

    def lose(self, held, host, lose):
        """The last host of a job on all hosts, one rank on each, that was started WATCHED and with the WATCHDOG."""
        lose(host)
        self.go()
        said = self.path("head", f"{SAID}/1/rank.0/stderr")
        rank = self.LAB.names().index(host)
        pattern = rf"watchdog: rank {rank} \(process \d+ on {host}.* has not answered for [\d.]+ s.*the job ends"
        end = time.monotonic() + 60
        while not re.search(pattern, said.read_text()):
            self.assertLess(time.monotonic(), end, f"rank 0 did not say '{pattern}': {said.read_text()}")
            time.sleep(0.2)
        while self.ranks(*(name for name in self.LAB.names() if name != host)):  # CTest's timeout is the limit
            time.sleep(0.2)
        self.clear_processes()  # mpirun would wait for the daemon of the lost host
        held.process.communicate()
        self.path("head", GO).unlink()
        shutil.rmtree(self.path("head", SAID))

    def age(self, host, lock):
        """The lock is a dead run's on every other host, and not only when its heartbeat is 120 s old."""
        self.LAB.run(host, sys.executable, lab.HERE / "age_lock.py", lock, check=True)

    def assert_exact(self, process, grid=GRID, steps=STEPS):
        self.assertEqual(process.returncode, 0, launch.said(process))
        right = "gradient hash      " + launch.right_hash(grid, steps)
        self.assertTrue(right in process.stdout, f"not the {right}\n{launch.said(process)}")

    def assert_error(self, process, pattern):
        """The library's error, on the one line that heat_equation says it on."""
        self.assertEqual(process.returncode, 3, launch.said(process))
        lines = launch.errors_of(process)
        self.assertTrue(any(re.search(pattern, line) for line in lines), f"{pattern}\n{launch.said(process)}")

    def assert_exact_or_error(self, process, error):
        """Never another gradient. Returns whether there is one."""
        found = re.search(r"^gradient hash +(\w+)$", process.stdout, re.MULTILINE)
        if found:
            self.assertEqual(found[1], launch.right_hash(GRID, STEPS), launch.said(process))
        if process.returncode != 0 or not found:
            self.assert_error(process, error)
        return bool(found)

    def assert_nothing_left(self, *hosts):
        for host in hosts or self.LAB.names():
            self.assertEqual(self.left(host, "/scratch"), {}, host)
        self.assertEqual(self.left("head", "/common"), {})


def main(hosts, prepare=lambda made: None):
    """unittest.main in a lab of so many hosts, prepared; a sentence where there can be none."""
    seen = [os.environ["ANADROME_TEST_BUILD"]]
    try:
        with lab.Lab(hosts=hosts, seen=seen) as Case.LAB:
            prepare(Case.LAB)
            unittest.main(module="__main__", exit=False).result.wasSuccessful() or sys.exit(1)
    except lab.NoLab as none:
        print(none)
