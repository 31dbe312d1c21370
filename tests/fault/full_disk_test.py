# SPDX-License-Identifier: BSD-2-Clause
"""Runs on file systems without room: small tmpfs mounts in a mount namespace of this test. Without
the right to mount, the test fails and says so."""
import os
import subprocess
import sys
import unittest

import launch

LAYOUTS = ("shared", "node", "rank")
GRID, STEPS = "256x128", 40


def enter_private_namespace():
    """Mounts made from here on are seen by this process and its children only."""
    if "ANADROME_TEST_NAMESPACE" in os.environ:
        return
    os.environ["ANADROME_TEST_NAMESPACE"] = "1"
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    os.execvp("unshare", ["unshare", "--mount"] + user + [sys.executable] + sys.argv)


class SmallDisk(launch.DirectoryCase):
    def mount(self, options, where="disk"):
        path = self.directory / where
        path.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", path], check=True)
        self.addCleanup(self.unmount, path)
        return path

    def unmount(self, path):
        if path.is_mount():  # new umounts take all that were mounted there at once
            subprocess.run(["umount", "--recursive", path], check=True, cwd="/")

    def sweep(self, disk, layout, **how):
        """heat_equation with its files on `disk`: the right gradient, or a clear error where not even
        the directory can be made."""
        process, results = self.heat(2, "--grid", GRID, "--steps", STEPS, "--interval", 1,
                                     "--schedule", "async", "--memory", "600KiB", "--layout",
                                     layout, "--directory", disk, **how)
        if process.returncode == 0:
            self.assertEqual(results["gradient_hash"], launch.right_hash(GRID, STEPS))
        else:
            self.assertEqual(process.returncode, 3, launch.said(process))
            message, = launch.errors_of(process)
            self.assertRegex(message, "ANADROME_ERR_(NO_SPACE|IO)")
            self.assertIn("No space left on device", message)
        return process.returncode


class FullDisk(SmallDisk):
    def check_many_sizes(self, layout, keep, environment=None):
        disk = self.mount("size=16m,mode=700")
        full = os.environ["ANADROME_TEST_FULL"] == "1"
        self.succeed(2, "full_disk", disk, layout, keep, 37 if full else 147,
                     environment=environment, seconds=400 if full else 120)

    def test_shared(self):
        self.check_many_sizes("shared", "off")

    def test_node(self):
        self.check_many_sizes("node", "off")

    def test_rank(self):
        self.check_many_sizes("rank", "off")

    def test_keep(self):
        for layout in ("shared", "rank"):
            self.check_many_sizes(layout, "on")

    def test_nothing_reserved(self):
        """Where space cannot be reserved it runs out under the I/O thread."""
        environment = {"LD_PRELOAD": launch.path_of("no_fallocate")}
        for layout in ("shared", "rank"):
            self.check_many_sizes(layout, "off", environment)

    def test_whole_programs(self):
        codes = []
        for size in ("4k", "40k", "3m", "9m", "17m"):
            disk = self.mount(f"size={size}", "disk-" + size)
            for layout in LAYOUTS:
                codes.append(self.sweep(disk, layout))
                self.assertEqual(list(disk.iterdir()), [])
        self.assertEqual(codes, [0] * 15)

    def test_no_inodes(self):
        for inodes in range(1, 6):
            disk = self.mount(f"size=32m,nr_inodes={inodes}", f"disk-{inodes}")
            for layout in ("shared", "rank"):
                code = self.sweep(disk, layout)
                self.assertEqual(code, 0 if inodes >= 3 else 3)  # the directory and its lock
                self.assertEqual(list(disk.iterdir()), [])


if __name__ == "__main__":
    enter_private_namespace()
    unittest.main()
