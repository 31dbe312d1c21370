# SPDX-License-Identifier: BSD-2-Clause
"""Runs on file systems without room: small tmpfs mounts in a mount namespace of this test. Without
the right to mount, the test fails and says so."""
import os
import subprocess
import sys
import unittest

import launch

GRID, STEPS = "256x128", 40


def enter_private_namespace():
    """Mounts made from here on are seen by this process and its children only."""
    if "ANADROME_TEST_NAMESPACE" in os.environ:
        return
    os.environ["ANADROME_TEST_NAMESPACE"] = "1"
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    os.execvp("unshare", ["unshare", "--mount"] + user + [sys.executable] + sys.argv)


class FullDisk(launch.DirectoryCase):
    def mount(self, options, where):
        path = self.directory / where
        path.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", path], check=True)
        self.addCleanup(self.unmount, path)
        return path

    def unmount(self, path):
        if path.is_mount():  # new umounts take all that were mounted there at once
            subprocess.run(["umount", "--recursive", path], check=True, cwd="/")

    def sweep(self, disk, layout):
        """heat_equation with its files on `disk`: the right gradient, or a clear error where not even
        the directory can be made."""
        process, results = self.heat(2, "--grid", GRID, "--steps", STEPS, "--interval", 1,
                                     "--schedule", "async", "--memory", "600KiB", "--layout",
                                     layout, "--directory", disk)
        if process.returncode == 0:
            self.assertEqual(results["gradient_hash"], launch.right_hash(GRID, STEPS))
        else:
            self.assertEqual(process.returncode, 3, launch.said(process))
            message, = launch.errors_of(process)
            self.assertRegex(message, "ANADROME_ERR_(NO_SPACE|IO)")
            self.assertIn("No space left on device", message)
        return process.returncode

    def check_many_sizes(self, layouts, keep, environment=None):
        full = os.environ["ANADROME_TEST_FULL"] == "1"
        for layout in layouts if full else layouts[:1]:
            disk = self.mount("size=16m,mode=700", layout)
            self.succeed(2, "full_disk", disk, layout, keep, int(full), environment=environment,
                         seconds=400 if full else 120)

    def test_pages(self):
        self.check_many_sizes(("shared", "node", "rank"), "off")

    def test_pages_for_kept_files(self):
        self.check_many_sizes(("rank", "shared"), "on")

    def test_nothing_reserved(self):
        """Where space cannot be reserved it runs out under the I/O thread."""
        self.check_many_sizes(("shared", "rank"), "off", {"LD_PRELOAD": launch.path_of("no_fallocate")})

    def test_no_inodes(self):
        for inodes in range(1, 6):
            disk = self.mount(f"size=32m,nr_inodes={inodes}", f"disk-{inodes}")
            code = self.sweep(disk, "rank" if inodes % 2 else "shared")
            self.assertEqual(code, 0 if inodes >= 3 else 3)  # the directory and its lock
            self.assertEqual(list(disk.iterdir()), [])


if __name__ == "__main__":
    enter_private_namespace()
    unittest.main()
