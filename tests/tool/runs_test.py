"""inspect, verify and clean: on kept, dead and live runs, and on damaged ones, which they must survive."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import unittest

import tool


def state_bytes(block, count):
    """The first bytes of a block of rank 0, as write_run writes them."""
    return bytes((b * 2654435761 + 40503 * block) >> 13 & 255 for b in range(count))


class Runs(tool.Case):
    def setUp(self):
        base = os.environ.get("ANADROME_TEST_DIRECTORY") or tempfile.gettempdir()
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="anadrome-test-", dir=base))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def writer(self, name, kind):
        return [os.environ["ANADROME_TEST_WRITE_RUN"], str(self.directory), name, kind]

    def write(self, name, kind):
        subprocess.run(self.writer(name, kind), check=True, timeout=60, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL)
        return self.directory / name

    def write_live(self, name):
        process = subprocess.Popen(self.writer(name, "live"), stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return self.directory / name

    def look(self, command, path, code=0):
        """The runs that a command found, which must exit with `code`."""
        process = tool.run(command, path, "--json")
        self.assertEqual(process.returncode, code, tool.said(process))
        return json.loads(process.stdout)["runs"]

    def problems_of(self, run):
        return run["problems"] + [problem for file in run["files"] for problem in file["problems"]]


class Sound(Runs):
    def test_kept(self):
        path = self.write("fin", "kept")
        for command, blocks in (("inspect", 0), ("verify", 10)):
            run, = self.look(command, path)
            self.assertEqual(run["state"], "kept")
            self.assertEqual(run["run_id"], "00112233445566778899aabbccddeeff")
            self.assertEqual(run["steps"], 50)
            self.assertEqual(run["ranks"], 2)
            self.assertEqual(run["anchors"], 5)
            self.assertEqual(run["newest_step"], 40)
            self.assertEqual(run["blocks_checked"], blocks)
            self.assertIsNone(run["resume"])
            self.assertIs(run["healthy"], True)
            self.assertEqual(self.problems_of(run), [])
            self.assertEqual(run["bytes"], sum(f.stat().st_size for f in path.iterdir()))

    def test_dead(self):
        path = self.write("killed", "dead")
        for command, blocks in (("inspect", 0), ("verify", 6)):
            run, = self.look(command, path)
            self.assertEqual(run["state"], "dead")
            self.assertEqual(run["blocks_checked"], blocks)
            # Generation 3 is on one rank only.
            self.assertEqual(run["resume"], {"generation": 2, "phase": "reverse", "position": 25,
                                             "steps": 50, "anchors": 3})
            self.assertIs(run["healthy"], True)

    def test_live(self):
        path = self.write_live("busy")
        run, = self.look("inspect", path)
        self.assertEqual(run["state"], "live")
        self.look("verify", path, code=1)  # it was not verified

    def test_many(self):
        for name, kind in (("b", "dead"), ("a", "kept")):
            self.write(name, kind)
        (self.directory / "notes").mkdir()
        (self.directory / "notes" / "segment-00000.h5").write_text("mine")
        (self.directory / "notes" / "thesis.tex").write_text("mine")
        (self.directory / "empty").mkdir()
        (self.directory / "link").symlink_to(self.directory / "a")
        runs = self.look("verify", self.directory)
        self.assertEqual([pathlib.Path(run["path"]).name for run in runs], ["a", "b"])

    def test_text(self):
        self.write("fin", "kept")
        self.write("killed", "dead")
        process = tool.run("verify", self.directory)
        self.assertEqual(process.returncode, 0, tool.said(process))
        for part in ("fin: kept", "killed: dead", "5 of 50 steps, x_0 to x_40", "10 blocks",
                     "resume   reverse sweep, to be adjoined up to step 25"):
            self.assertIn(part, process.stdout)

    def test_nothing(self):
        self.assertIn("there is no run", self.refuse("inspect", self.directory))
        self.assertIn("not a directory", self.refuse("verify", self.directory / "none"))
        self.assertIn("DIR", self.refuse("clean"))


class Clean(Runs):
    def test_dead_only(self):
        kept, dead, live = self.write("a", "kept"), self.write("b", "dead"), self.write_live("c")
        before = {path: sorted(p.name for p in path.iterdir()) for path in (kept, live)}
        process = tool.run("clean", self.directory)
        self.assertEqual(process.returncode, 1, tool.said(process))
        self.assertFalse(dead.exists())
        for path in (kept, live):
            self.assertEqual(sorted(p.name for p in path.iterdir()), before[path])
        self.assertIn("b: removed", process.stdout)
        self.assertIn("c: live, not touched", process.stdout)

    def test_one(self):
        dead = self.write("b", "dead")
        process = tool.run("clean", dead)
        self.assertEqual(process.returncode, 0, tool.said(process))
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_not_a_runs(self):
        dead = self.write("b", "dead")
        (dead / "thesis.tex").write_text("mine")
        self.refuse("clean", dead)
        self.assertTrue((dead / "segment-00000.h5").exists())
        (dead / "thesis.tex").unlink()
        target = self.directory / "target"
        target.write_text("mine")
        (dead / "states.h5").symlink_to(target)
        self.refuse("clean", dead)
        self.assertEqual(target.read_text(), "mine")


class Damaged(Runs):
    """Whatever the bytes are: an answer, and never that all is well with a wrong state."""

    def answer_to(self, path, command="verify"):
        process = tool.run(command, path, "--json")
        self.assertIn(process.returncode, (0, 1), tool.said(process))
        self.assertEqual(process.stderr, "")
        run, = json.loads(process.stdout)["runs"]
        self.assertEqual(process.returncode, 0 if run["healthy"] else 1)
        return run

    def check_flips(self, path, flips):
        chance = random.Random(20160201)
        found = 0
        for file in sorted(path.iterdir()):
            if file.name == "lock":
                continue
            bytes_before = file.read_bytes()
            for _ in range(flips):
                changed = bytearray(bytes_before)
                at = chance.randrange(min(len(changed), 8192) if chance.random() < 0.5
                                      else len(changed))
                changed[at] ^= 1 << chance.randrange(8)
                file.write_bytes(changed)
                found += not self.answer_to(path)["healthy"]
            file.write_bytes(bytes_before)
        self.assertTrue(self.answer_to(path)["healthy"])
        return found

    def test_flips_in_kept_files(self):
        self.assertGreater(self.check_flips(self.write("fin", "kept"), self.flips()), 5)

    def test_flips_in_a_dead_run(self):
        self.assertGreater(self.check_flips(self.write("killed", "dead"), self.flips()), 3)

    @staticmethod
    def flips():
        return 300 if os.environ["ANADROME_TEST_FULL"] == "1" else 15

    def test_a_wrong_state(self):
        """One bit of a state itself, found by its bytes in the file."""
        for kind in ("kept", "dead"):
            path = self.write(kind, kind)
            file = path / "segment-00000.h5"
            whole = file.read_bytes()
            at = whole.index(state_bytes(2, 8000))
            for byte in (at, at + 4321, at + 7999):
                changed = bytearray(whole)
                changed[byte] ^= 4
                file.write_bytes(changed)
                problem, = self.problems_of(self.answer_to(path))
                self.assertRegex(problem, "block 2 .*step 20.* is not what was written")
                self.assertTrue(self.answer_to(path, "inspect")["healthy"])
            padding = bytearray(whole)
            padding[at + 8000] ^= 4  # belongs to nobody
            file.write_bytes(padding)
            self.assertTrue(self.answer_to(path)["healthy"])

    def test_truncated(self):
        for kind in ("kept", "dead"):
            path = self.write(kind, kind)
            for file in sorted(path.iterdir()):
                whole = file.read_bytes()
                for length in (0, 1, 100, len(whole) // 2, len(whole) - 1):
                    if file.name == "lock":
                        continue
                    file.write_bytes(whole[:length])
                    run = self.answer_to(path)
                    # Of a journal the newest records may go: it is then healthy, and less far.
                    if not file.name.startswith("journal") and length < len(whole) - 1:
                        self.assertFalse(run["healthy"], (file, length))
                file.write_bytes(whole)

    def test_missing_and_swapped(self):
        for kind in ("kept", "dead"):
            path = self.write(kind, kind)
            first, second = path / "segment-00000.h5", path / "segment-00001.h5"
            a, b = first.read_bytes(), second.read_bytes()
            first.write_bytes(b), second.write_bytes(a)
            self.assertEqual(self.answer_to(path)["healthy"], False)
            first.write_bytes(a), second.write_bytes(b)
            first.unlink()
            self.assertFalse(self.answer_to(path)["healthy"])
        (self.directory / "kept" / "states.h5").unlink()
        self.assertIn("states.h5 is missing",
                      " ".join(self.problems_of(self.answer_to(self.directory / "kept"))))

    def test_foreign(self):
        path = self.write("killed", "dead")
        for name, content in (("journal-000000", b"\x89ANAJNL\n" + b"\xff" * 1000),
                              ("journal-000001", b"{}"), ("segment-00000.h5", b"\x89HDF\r\n\x1a\n"),
                              ("segment-00001.h5", os.urandom(10000)), ("states.h5", b"")):
            (path / name).write_bytes(content)
            self.assertFalse(self.answer_to(path)["healthy"])
        (path / "lock").write_bytes(b"\xff\xfe\x1b[2J")
        self.assertFalse(self.answer_to(path)["healthy"])
        self.assertNotIn("\x1b", tool.run("inspect", path).stdout)

    def test_states_of_another_run(self):
        """Whole in themselves, but not those of the journals."""
        one, other = self.write("one", "dead"), self.write("other", "kept")
        for number in (0, 1):
            name = f"segment-0000{number}.h5"
            data = bytearray((other / name).read_bytes())
            if number == 0:
                at = data.index(state_bytes(0, 100))
                data[at:at + 8] = bytes(8)
            (one / name).write_bytes(data)
        self.assertFalse(self.answer_to(one)["healthy"])


if __name__ == "__main__":
    unittest.main()
