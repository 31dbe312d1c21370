# SPDX-License-Identifier: BSD-2-Clause
"""Ranks that stop answering, in every phase: the watchdog names them within ten seconds. Without abort the gradient
is exact after SIGCONT; with abort the job ends."""
import collections
import os
import queue
import re
import signal
import subprocess
import threading
import unittest

import launch

SECONDS = 10  # within which the cause is named
PORTABLE = os.environ["ANADROME_TEST_PORTABLE"] == "1"  # a stop does not show: silence does
STOPPED = "stopped or dead" if PORTABLE else "stopped by a signal"
RESUME = ("resume=on", "checkpoint_interval=0")
SCHEDULES = {
    "async": ("schedule=async", "interval=1", "memory=40KiB"),
    "layout rank": ("schedule=async", "interval=3", "memory=60KiB", "layout=rank", "transport=buffered"),
    "mpio": ("schedule=async", "interval=2", "memory=40KiB", "transport=mpio"),
    "resume": ("schedule=async", "interval=2", "memory=40KiB") + RESUME,
    "RAM only": ("schedule=revolve", "memory=40KiB"),
}


class Lines:
    """What a job says on standard error, as it comes."""

    def __init__(self, stream):
        self.all, self.queue = [], queue.Queue()
        self.thread = threading.Thread(target=self.read, args=(stream,), daemon=True)
        self.thread.start()

    def read(self, stream):
        for line in stream:
            self.queue.put(line)
        self.queue.put(None)

    def next(self, seconds):
        """None: it said nothing more."""
        try:
            line = self.queue.get(timeout=seconds)
        except queue.Empty:
            line = None
        self.all.append(line or "")
        return line

    def next_like(self, pattern, seconds):
        line = self.next(seconds)
        while line is not None and not re.search(pattern, line):
            line = self.next(seconds)
        return line


class Case(launch.DirectoryCase):
    STEPS = 40

    def command(self, ranks, words, rank, *more):
        words = [str(self.directory), str(self.STEPS), *words, "--rank", str(rank), *map(str, more)]
        return launch.ranks_command(ranks, "job", *words)

    def whole(self, ranks, words):
        """Of a job that nobody stops: its gradient, and how many operations and actions there are."""
        process = launch.run_command(self.command(ranks, words, 0))
        self.assertEqual(process.returncode, 0, launch.said(process))
        found = re.search(r"rank 0 gradient (\w+) resumed (\d) operations (\d+) actions (\d+)", process.stdout)
        return found[1], int(found[3]), int(found[4])

    def start(self, command, **more):
        environment = {**os.environ, "OMPI_MCA_odls_base_sigkill_timeout": "0", **more}
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)  # if it hangs; its ranks end with it
        return process, Lines(process.stderr)


class Reported(Case):
    def stops_are_named(self, ranks, words, rank, stops, gradient):
        """One job that stops at each of `stops`, and is let go on when that was said."""
        command = self.command(ranks, (*words, "watchdog=1"), rank, *stops)
        go = f"{self.directory}.go"
        os.mkfifo(go)
        # Both ends, so that nobody waits for the other in open(): what is written stays there.
        pipe = os.open(go, os.O_RDWR)
        self.addCleanup(os.close, pipe)
        process, lines = self.start(command, ANADROME_TEST_GO=go)

        def expect(pattern, seconds):
            line = lines.next_like(pattern, seconds)
            self.assertIsNotNone(line, f"no '{pattern}': {command}\n" + "".join(lines.all))
            return line

        came = collections.Counter()
        stopped = expect(r"job: process \d+ stops", 120)
        while stopped:
            try:
                named = expect(rf"watchdog: rank {rank} .*{STOPPED}", SECONDS)
            finally:
                os.kill(int(re.search(r"process (\d+)", stopped)[1]), signal.SIGCONT)
            if "anadrome_begin for" not in named and "no heartbeat yet" not in named:
                expect(rf"watchdog: rank {rank} answers again", SECONDS)
            os.write(pipe, b"g")
            came[re.search(r"stops at (\w+)", stopped)[1]] += 1
            stopped = lines.next_like(r"job: process \d+ stops", 120)
        output = process.stdout.read()
        self.assertEqual(process.wait(120), 0, output + "".join(lines.all))
        self.assertIn(f"gradient {gradient}", output)
        self.assertEqual(os.listdir(self.directory), [])
        os.unlink(go)
        # Not every run has as many operations and actions as the one that nobody stopped.
        self.assertEqual((came["begin"], came["close"]), (stops.count("--stop-begin"), stops.count("--stop-close")))
        self.assertGreater(came["action"], 0)
        return came.total()

    @staticmethod
    def places(operations, actions, count):
        """Where to stop: before begin and close, in transfers, and in actions up to DONE."""
        stops = ["--stop-begin", 1, "--stop-close", 1]
        for what, most in (("operation", operations), ("action", actions)):
            for at in sorted({1 + (most - 1) * (2 * i + 1) // (2 * count) for i in range(count)}):
                stops += [f"--stop-{what}", at]
        return stops

    def test_in_some_phases(self):
        """With --full in every phase of every schedule."""
        full = os.environ["ANADROME_TEST_FULL"] == "1"
        runs = [(2, "async", 0), (3, "RAM only", 1)]
        if full:
            runs = [(ranks, name, rank) for ranks, rank in ((2, 0), (2, 1), (3, 2)) for name in SCHEDULES]
        named = collections.Counter()
        for ranks, name, rank in runs:
            gradient, operations, actions = self.whole(ranks, SCHEDULES[name])
            stops = self.places(operations if rank == 0 else operations // 2, actions, 6 if full else 1)
            named[name] += self.stops_are_named(ranks, SCHEDULES[name], rank, stops, gradient)
        self.assertGreaterEqual(named.total(), 150 if full else 7)
        print(f"{named.total()} stops, all named within {SECONDS} s: {dict(named)}")


class Ended(Case):
    """With watchdog=1,abort."""

    def ends(self, command, cause, rank):
        process, lines = self.start(command)
        if "stop" in " ".join(command):
            self.assertIsNotNone(lines.next_like(r"job: process \d+ stops", 30), "".join(lines.all))
        named = lines.next_like(rf"watchdog: rank {rank} .*{cause}.*the job ends", SECONDS)
        self.assertIsNotNone(named, "".join(lines.all))
        return process.wait(SECONDS)

    def test_stopped(self):
        words = SCHEDULES["async"] + RESUME
        gradient, _, actions = self.whole(3, words)
        first = ("--stop-action", 3) if PORTABLE else ("--stop-begin", 1)  # in begin it may be busy
        for rank, stop in ((0, first), (2, ("--stop-action", 2 * actions // 3))):
            command = self.command(3, (*words, "watchdog=1,abort"), rank, *stop)
            self.assertNotEqual(self.ends(command, STOPPED, rank), 0)
        process = launch.run_command(self.command(3, words, 0))
        self.assertEqual(process.returncode, 0, launch.said(process))
        self.assertIn(f"gradient {gradient} resumed 1", process.stdout)

    def test_killed_under_a_launcher_that_leaves_the_others(self):
        words = (*SCHEDULES["async"], "watchdog=1,abort")
        command = self.command(3, words, 1, "--kill-action", 30)
        self.ends(command[:1] + ["--enable-recovery"] + command[1:], "dead", 1)


class Refused(Case):
    def test_directories_that_differ_on_one_node(self):
        command = self.command(2, (*SCHEDULES["layout rank"], "watchdog=1"), 0)
        for rank in range(2):
            (self.directory / str(rank)).mkdir()
        at = command.index(str(self.directory))
        program = " ".join([command[at - 1], f"{self.directory}/$OMPI_COMM_WORLD_RANK", *command[at + 1:]])
        process = launch.run_command(command[:at - 1] + ["sh", "-c", "exec " + program])
        self.assertEqual(process.returncode, 3, launch.said(process))
        self.assertRegex(process.stderr, "ANADROME_ERR_ARGUMENT: .*rank 1: directory is not the same on all ranks of node")


if __name__ == "__main__":
    unittest.main()
