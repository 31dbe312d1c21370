# SPDX-License-Identifier: BSD-2-Clause
"""Runs on file systems without room: small tmpfs mounts in a mount namespace of this test. Without
the right to mount, the test fails and says so."""
import collections
import os
import shutil
import subprocess
import sys
import unittest

import launch

GRID, STEPS, PAGE = "128x64", 60, 4096
STATES = 60 * 16  # pages


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

    def sweep(self, disk, layout, *words, **how):
        """60 states of 64 KiB with their files on `disk`, which holds nothing else of a run: the right gradient, or
        a clear error. Whether it went well, and the error."""
        process, results = self.heat(2, "--grid", GRID, "--steps", STEPS, "--interval", 1, "--schedule", "async",
                                     "--memory", "200KiB", "--layout", layout, "--directory", disk, *words, **how)
        if process.returncode == 0:
            self.assertEqual(results["gradient_hash"], launch.right_hash(GRID, STEPS))
            return True, ""
        self.assertEqual(process.returncode, 3, launch.said(process))
        message, = launch.errors_of(process)
        self.assertRegex(message, "ANADROME_ERR_(NO_SPACE|IO)")
        self.assertIn("No space left on device", message)
        return False, message

    def leave(self, disk, pages):
        """A file that leaves so many pages."""
        with open(disk / "filler", "wb") as filler:
            room = os.statvfs(disk)
            os.posix_fallocate(filler.fileno(), 0, room.f_bfree * room.f_bsize - pages * PAGE)

    def expect_rest(self, disk, keeps, well, message):
        """Nothing, or kept files: with their master, unless it was just that which found no room."""
        kept = disk / "anadrome"
        if keeps and (well or kept.exists() and "states.h5" not in message):
            self.assertTrue((kept / "states.h5").exists())
        if keeps:
            shutil.rmtree(kept, ignore_errors=True)
        self.assertEqual([path.name for path in disk.iterdir()], ["filler"])

    def check_many_sizes(self, layouts, keeps=False, **how):
        """With ever more pages left, so that every stage runs out of room in its turn: the directory and its lock, the
        first segment, one in the middle of the sweep (n is not known), the writes where nothing was reserved, the
        tables and the master of kept files."""
        full = os.environ["ANADROME_TEST_FULL"] == "1"
        sizes = [*range(24), *range(24, STATES, 37), *range(STATES, STATES + 24), *range(STATES + 24, 2000, 37)]
        if not full:
            sizes = [*range(0, 12), 30, 300, 700, *range(STATES - 1, STATES + 12, 2), 1040, 1500, 1999]
        for layout in layouts if full else layouts[:1]:
            disk = self.mount("size=16m,mode=700", layout)
            count = collections.Counter()
            for number, pages in enumerate(sizes):
                for unknown in (False, True) if full else (number % 2 == 1,):
                    words = ["--steps-unknown"] * unknown + ["--set", "keep=on"] * keeps
                    with self.subTest(layout=layout, pages=pages, unknown=unknown):
                        self.leave(disk, pages)
                        well, message = self.sweep(disk, layout, *words, **how)
                        self.expect_rest(disk, keeps, well, message)
                        count[well] += 1
            print(f"{layout}: {count[True]} runs went well, {count[False]} had no space")
            # Files that are to be kept need their space; otherwise it takes no more than a directory.
            self.assertGreaterEqual(count[True], 3)
            self.assertTrue(count[False] >= 15 if keeps else count[False] <= 12, count)

    def test_pages(self):
        self.check_many_sizes(("shared", "node", "rank"))

    def test_pages_for_kept_files(self):
        self.check_many_sizes(("rank", "shared"), keeps=True)

    def test_nothing_reserved(self):
        """Where space cannot be reserved it runs out under the I/O thread."""
        self.check_many_sizes(("shared", "rank"), environment={"LD_PRELOAD": launch.path_of("no_fallocate")})

    def test_no_inodes(self):
        for inodes in range(1, 6):
            disk = self.mount(f"size=32m,nr_inodes={inodes}", f"disk-{inodes}")
            well, _ = self.sweep(disk, "rank" if inodes % 2 else "shared")
            self.assertEqual(well, inodes >= 3)  # the directory and its lock
            self.assertEqual(list(disk.iterdir()), [])


if __name__ == "__main__":
    enter_private_namespace()
    unittest.main()
