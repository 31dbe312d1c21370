# SPDX-License-Identifier: BSD-2-Clause
"""inspect, verify and clean: on kept, dead and live runs, and on damaged ones, which they must survive."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest

import h5py

import tool


def pattern(salt, count):
    return bytes((b * 2654435761 + salt) >> 13 & 255 for b in range(count))


def state_bytes(block, count):
    """The first bytes of a block of rank 0, as write_run writes them."""
    return pattern(40503 * block, count)


def adjoint_bytes(generation, rank, count):
    return pattern(7919 * generation + rank, count)


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
            expected = dict(state="kept", run_id="00112233445566778899aabbccddeeff", steps=50, ranks=2, anchors=5, newest_step=40,
                            blocks_checked=blocks, resume=None, healthy=True, bytes=sum(f.stat().st_size for f in path.iterdir()),
                            allocated=sum(512 * f.stat().st_blocks for f in path.iterdir()))
            self.assertEqual({name: run[name] for name in expected}, expected)
            self.assertEqual(self.problems_of(run), [])
        (path / "segment-000001.h5").touch()
        os.truncate(path / "segment-000001.h5", 1 << 30)
        process = tool.run("inspect", path)
        self.assertRegex(process.stdout, r"on disk  \d+ files, .* KiB, with their holes 1.00 GiB")
        run, = json.loads(tool.run("inspect", path, "--json").stdout)["runs"]
        with_holes, = (file for file in run["files"] if file["name"] == "segment-000001.h5")
        self.assertEqual((with_holes["bytes"], with_holes["allocated"]), (1 << 30, 0))

    def test_dead(self):
        path = self.write("killed", "dead")
        for command, blocks in (("inspect", 0), ("verify", 8)):
            run, = self.look(command, path)
            self.assertEqual((run["state"], run["blocks_checked"], run["healthy"]), ("dead", blocks, True))
            # Generation 3 is on one rank only.
            self.assertEqual(run["resume"], {"generation": 2, "phase": "reverse", "position": 25,
                                             "steps": 50, "anchors": 3})
            self.assertEqual(run["adjoints_checked"], 2 if command == "verify" else 0)

    def test_stopped(self):
        path = self.write("halted", "stopped")
        run, = self.look("verify", path)
        self.assertEqual(run["state"], "stopped")
        self.assertEqual(run["resume"]["position"], 25)
        self.assertEqual(self.problems_of(run), [])

    def test_live(self):
        path = self.write_live("busy")
        run, = self.look("inspect", path)
        self.assertEqual(run["state"], "live")
        self.assertGreater(run["holder"]["process"], 0)
        self.assertEqual(run["phase"], "in its solver, forward from step 30")
        self.assertIn("phase    rank 0 is in its solver, forward from step 30", tool.run("inspect", path).stdout)
        next(path.glob("heartbeats-*")).unlink()
        self.assertIn("phase    not known", tool.run("inspect", path).stdout)
        self.look("verify", path, code=1)  # it was not verified

    def test_commits_of_petsc_lie_beside_it(self):
        path = self.write("TS", "dead")
        self.assertIsNone(self.look("inspect", path)[0]["petsc"])
        for name in ("TS.0.adjoint.0", "TS.0.adjoint.1", "TS.11.adjoint.1", "TS.0.notes", "TS..adjoint.0", "TS.1x.adjoint.0", "T.0.adjoint.0"):
            (self.directory / name).touch()
        os.utime(self.directory / "TS.11.adjoint.1", (2e9, 2e9))
        for given in (path, f"{path}/", self.directory):
            run, = self.look("inspect", given)
            self.assertEqual(run["petsc"], {"adjoint_commits_of_ranks": 2, "changed": 2000000000})
        self.assertIn("petsc    TSAdjointSolve goes on from commits of 2 ranks beside", tool.run("inspect", path).stdout)

    def test_of_another_host(self):
        """Live while its heartbeat is fresh, wherever flock reaches."""
        for kind, state in (("elsewhere", "live"), ("silent", "dead")):
            path = self.write(kind, kind)
            run, = self.look("inspect", path)
            self.assertEqual(run["state"], state)
            self.assertEqual(run["holder"]["host"], "node017")
            self.assertRegex(tool.run("inspect", path).stdout,
                             r"holder   process \d+ on node017 since .* UTC, last heartbeat \d+ s ago")

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
        process = tool.run("verify", self.directory)
        for part in ("a: kept", "b: dead", "5 of 50 steps, x_0 to x_40", "10 blocks",
                     "resume   reverse sweep, to be adjoined up to step 25"):
            self.assertIn(part, process.stdout)

    def test_a_dead_run_without_a_commit_is_for_cleaning_unless_it_is_of_several_nodes(self):
        path = self.write("killed", "dead")
        self.assertIn("  healthy\n", tool.run("inspect", path).stdout)
        for file in (*path.glob("journal*"), *path.glob("adjoint*")):
            file.unlink()
        said = tool.run("inspect", path).stdout
        self.assertIn(f"cannot be resumed (resume was off, or nothing was committed): "
                      f"`anadrome clean {path}` removes it", said)
        self.assertNotIn("healthy", said)
        path = self.write("nodes", "on_nodes")  # where another node's may be
        for file in ("journal-000001", "adjoint-000001"):
            (path / file).unlink()
        said = tool.run("inspect", path).stdout
        self.assertIn("resume   depends on the journals of 1 more rank", said)
        self.assertNotIn("cannot be resumed", said)

    def test_nothing(self):
        self.assertIn("there is no run", self.refuse("inspect", self.directory))
        self.assertIn("not a directory", self.refuse("verify", self.directory / "none"))
        self.assertIn("DIR", self.refuse("clean"))


class Clean(Runs):
    def aged(self, path, days):
        for file in path.iterdir():
            changed = file.stat().st_mtime - days * 86400
            os.utime(file, (changed, changed))
        return path

    def left_after(self, code, *words):
        """The runs that are left, and what was said."""
        process = tool.run("clean", self.directory, *words)
        self.assertEqual(process.returncode, code, tool.said(process))
        return sorted(path.name for path in self.directory.iterdir()), process.stdout

    def test_goes_what_is_dead_and_what_is_asked_for(self):
        for kind in ("dead", "kept", "stopped", "elsewhere", "silent"):
            self.write(kind, kind)
        self.write_live("live")
        self.aged(self.write("future", "dead"), -1)  # of this clock
        files = sorted(path for path in self.directory.glob("[kles]*/*") if "silent" not in path.parts[-2])
        left, said = self.left_after(1)
        self.assertEqual(left, ["elsewhere", "kept", "live", "stopped"])
        self.assertEqual(sorted(self.directory.glob("*/*")), files)
        self.assertIn("dead: removed", said)
        self.assertIn("stopped: stopped, not touched", said)
        for name, host in (("live", ""), ("elsewhere", "node017")):
            self.assertRegex(said, rf"{name}: live, not touched: held by process \d+ on {host}")
        self.assertEqual(self.left_after(1, "--stopped")[0], ["elsewhere", "kept", "live"])
        left, said = self.left_after(1, "--kept")
        self.assertEqual(left, ["elsewhere", "live"])
        self.assertIn("kept: removed", said)

    def test_one_and_the_one_that_it_is_started_in(self):
        for where, cwd in ((self.directory / "a", None), (".", self.directory / "b")):
            self.write("a" if cwd is None else "b", "dead")
            process = tool.run("clean", where, cwd=cwd)
            self.assertEqual(process.returncode, 0, tool.said(process))
            self.assertEqual(list(self.directory.iterdir()), [])

    def test_not_a_runs_but_for_the_names(self):
        names = ("lock", "journal-202500", "segment-00000.h5", "states.h5")
        for name in names:
            (self.directory / f"of-{name}").mkdir()
            (self.directory / f"of-{name}" / name).write_text("" if name == "lock" else "dear diary")
        left, said = self.left_after(0, "--stopped", "--kept")
        self.assertEqual(left, sorted(f"of-{name}" for name in names))
        for name in names:
            self.assertIn(f"of-{name}: not touched: nothing says that '{name}' is the run's", said)

    def test_names_that_move_a_cursor(self):
        for kind in ("dead", "kept"):
            self.write(kind, kind).rename(self.directory / f"{kind}\033[2J\u202e\nother: removed\nz")
        for words in (["inspect"], ["verify"], ["inspect", "--json"], ["verify", "--json"], ["clean"]):
            said = tool.said(tool.run(*words, self.directory))
            self.assertNotRegex(said, "\033|\u202e|\nother")
        said = tool.run("inspect", self.directory / "none\033[2J\nb")
        self.assertNotIn("\033", said.stderr)
        self.assertEqual(said.stderr.count("\n"), 1, said.stderr)

    def test_older_than_so_long_only(self):
        for kind in ("dead", "kept", "stopped"):
            self.aged(self.write(f"{kind}-old", kind), 40)
            self.write(f"{kind}-new", kind)
        live = self.aged(self.write_live("live"), 40)
        half = self.aged(self.write("half", "dead"), 40)
        os.utime(half / "segment-00000.h5")  # one file is new
        young = ["dead-new", "half", "kept-new", "live", "stopped-new"]
        left, said = self.left_after(1, "--older-than", "30d")
        self.assertEqual(left, sorted([*young, "kept-old", "stopped-old"]))
        self.assertRegex(said, r"half: dead, not touched: changed \S+ \S+ ago")
        self.assertEqual(self.left_after(1, "--older-than", "50d", "--stopped", "--kept")[0], left)
        self.assertEqual(self.left_after(1, "--older-than=30d", "--stopped", "--kept")[0], young)
        self.assertEqual(self.left_after(1, "--older-than", "0s")[0],
                         ["kept-new", "live", "stopped-new"])
        self.assertTrue((live / "lock").exists())
        self.assertIn("--older-than", self.refuse("clean", self.directory, "--older-than", "long"))


class Others(Runs):
    """What other users have put into a directory where everybody may."""
    def as_another(self, *lines):
        who = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        subprocess.run([*who, "sh", "-e", "-c", "\n".join(lines)], cwd=self.directory, check=True, timeout=60)

    def files_below(self, path):
        return {str(file): file.is_file() and file.read_bytes() for file in sorted(path.rglob("*"))}

    def test_lose_nothing_and_hold_nobody_up(self):
        self.directory.chmod(0o1777)
        ours = self.write("ours", "kept")
        self.as_another("umask 0", "mkdir theirs piped linked", "mkfifo piped/lock piped/journal-000000",
                        "echo data > theirs/states.h5", "echo data > theirs/lock", f"ln -s {ours} link",
                        "ln theirs/lock linked/lock", f"ln -s {ours}/states.h5 linked/states.h5")
        before = self.files_below(self.directory)
        for name in ("theirs", "piped", "linked", "link"):
            for kind in ("dead", "kept"):
                begun = subprocess.run(self.writer(name, kind), timeout=60, capture_output=True, text=True)
                self.assertEqual(begun.returncode, 1, (name, begun))
            for command in (["inspect"], ["verify"], ["clean", "--stopped"]):
                tool.run(*command, self.directory / name)
        tool.run("clean", self.directory, "--stopped")
        self.assertEqual(self.files_below(self.directory), before)

    def test_cannot_lead_clean_elsewhere(self):
        """In 6 to 14 of 40 rounds they could, while clean followed paths."""
        victim = self.write("victim", "dead").rename(self.directory / "victim")
        (self.directory / "open").mkdir()
        before = self.files_below(victim)
        bait, away = self.directory / "open" / "bait", self.directory / "away"
        done = threading.Event()

        def swap():
            while not done.is_set():
                try:
                    bait.rename(away)
                    bait.symlink_to(victim)
                    bait.unlink()
                    away.rename(bait)
                except OSError:  # it is gone
                    return

        for _ in range(40):
            shutil.rmtree(away, ignore_errors=True)
            if bait.is_symlink():
                bait.unlink()
            if not bait.exists():
                self.write("bait", "dead").rename(bait)
            done.clear()
            swapper = threading.Thread(target=swap)
            swapper.start()
            tool.run("clean", self.directory / "open")
            done.set()
            swapper.join()
            self.assertEqual(self.files_below(victim), before)


class Damaged(Runs):
    """Whatever the bytes are: an answer, and never that all is well with a wrong state."""

    def answer_to(self, path, command="verify"):
        process = tool.run(command, path, "--json")
        self.assertIn(process.returncode, (0, 1), tool.said(process))
        self.assertEqual(process.stderr, "")
        run, = json.loads(process.stdout)["runs"]
        self.assertEqual(process.returncode, 0 if run["healthy"] else 1)
        return run

    def test_a_wrong_state(self):
        """One bit of a state itself, found by its bytes in the file."""
        for kind in ("kept", "dead"):
            path = self.write(kind, kind)
            file = path / "segment-00000.h5"
            at = file.read_bytes().index(state_bytes(2, 8000))
            for byte in (at, at + 4321, at + 7999):
                problem, = self.problems_of(self.flipped(file, byte, also="inspect"))
                self.assertRegex(problem, "block 2 .*step 20.* is not what was written")
            self.assertTrue(self.flipped(file, at + 8000)["healthy"])  # belongs to nobody

    def flipped(self, file, at, also=None):
        """The answer with one byte of a file changed, which is put right again; and that of another command."""
        whole = file.read_bytes()
        changed = bytearray(whole)
        changed[at] ^= 0x10
        file.write_bytes(changed)
        run = self.answer_to(file.parent)
        if also:
            self.assertTrue(self.answer_to(file.parent, also)["healthy"])
        file.write_bytes(whole)
        return run

    def test_each_kind_of_file_is_named(self):
        dead, kept = self.write("dead", "dead"), self.write("kept", "kept")
        for file, sought in ((dead / "segment-00000.h5", state_bytes(1, 8000)),
                             (dead / "segment-copy.h5", state_bytes(0, 8000)),
                             (dead / "adjoint-000000", adjoint_bytes(2, 0, 5000)),
                             (dead / "adjoint-000001", adjoint_bytes(2, 1, 300)),
                             (dead / "journal-000000", b"gradient adjoint"),
                             (dead / "journal-000001", b"segment-00001.h5"),
                             (kept / "segment-00001.h5", state_bytes(3, 8000)),
                             (kept / "segment-00001.h5", (30).to_bytes(8, "little")),
                             (kept / "states.h5", (10).to_bytes(8, "little"))):
            at = file.read_bytes().index(sought)
            run = self.flipped(file, at)
            self.assertFalse(run["healthy"], (file, at))
            problems = [each["problems"] for each in run["files"] if each["name"] == file.name]
            self.assertTrue(problems[0] or any(file.name in text for text in run["problems"]),
                            (file, run))

    def test_what_is_not_committed_is_no_damage(self):
        path = self.write("dead", "dead")
        # Generation 3 is one rank's; without it block 4 is not needed.
        for file, sought in ((path / "adjoint-000000", adjoint_bytes(3, 0, 5000)),
                             (path / "adjoint-000001", adjoint_bytes(1, 1, 300)),
                             (path / "segment-00001.h5", state_bytes(4, 8000))):
            run = self.flipped(file, file.read_bytes().index(sought))
            self.assertTrue(run["healthy"], (file, run))
            self.assertEqual(run["resume"]["generation"], 2)
        second = (path / "journal-000001").read_bytes()
        newest = (path / "journal-000000").read_bytes()
        for name, whole, torn in (("journal-000001", second, second + bytes(100)),
                                  ("journal-000001", second, second + second[-300:-200]),
                                  ("journal-000000", newest, newest[:-1]),
                                  ("journal-000000", newest, newest[:-60])):
            (path / name).write_bytes(torn)
            run = self.answer_to(path)
            self.assertTrue(run["healthy"], run)
            note, = [text for file in run["files"] for text in file["notes"]
                     if file["name"] == name]
            self.assertIn("no whole commit", note)
            (path / name).write_bytes(whole)
        for name in ("journal-000000", "journal-000001"):  # as they are until the first commit
            (path / name).write_bytes(b"")
            run = self.answer_to(path)
            self.assertTrue(run["healthy"], run)
            self.assertIsNone(run["resume"])

    def test_damage_in_every_part_of_a_journal(self):
        """Is seen as such wherever a later commit shows that it was synced."""
        path = self.write("dead", "dead")
        journal = path / "journal-000000"
        places = range(0, len(journal.read_bytes()), 7 if os.environ["ANADROME_TEST_FULL"] == "1" else 61)
        seen = 0
        for at in places:
            run = self.flipped(journal, at)
            said = [file["problems"] + file["notes"] for file in run["files"]
                    if file["name"] == journal.name][0]
            self.assertTrue(said, at)
            seen += not run["healthy"]
        self.assertGreater(seen, 0.8 * len(places))

    def test_journals_of_other_ranks_and_a_commit_that_is_gone(self):
        path = self.write("dead", "dead")
        first, second = path / "journal-000000", path / "journal-000001"
        a, b = first.read_bytes(), second.read_bytes()
        # The last: rank 0 began generation 3, and so wrote over 1, when all ranks had 2: it was there.
        for ours, others, said in ((b, a, "its header names rank 1's"), (a, None, "there are journals of 1 of 2 ranks only"),
                                   (a, b[:-60], "the adjoint fields of generation 1 are not what was written")):
            first.write_bytes(ours)
            second.unlink() if others is None else second.write_bytes(others)
            self.assertIn(said, self.problems_of(self.answer_to(path)))

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
                    # Of adjoint fields those of another generation.
                    if file.name[:4] not in ("jour", "adjo") and length < len(whole) - 1:
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
        for gone, said in (("states.h5", "states.h5 is missing"), ("segment-*", "no file with states is here")):
            path = self.write(gone[:7], "kept")
            for file in path.glob(gone):
                file.unlink()
            self.assertIn(said, " ".join(self.problems_of(self.answer_to(path))))

    def test_foreign(self):
        path = self.write("killed", "dead")
        for name, content in (("lock", b"\xff\xfe\x1b[2J"),
                              ("journal-000000", b"\x89ANAJNL\n" + b"\xff" * 1000),
                              ("journal-000001", b"{}"), ("segment-00000.h5", b"\x89HDF\r\n\x1a\n"),
                              ("segment-00001.h5", os.urandom(10000)), ("states.h5", b"")):
            (path / name).write_bytes(content)
            self.assertFalse(self.answer_to(path)["healthy"])
        self.assertNotIn("\x1b", tool.run("inspect", path).stdout)

    def test_that_names_files_elsewhere(self):
        os.mkfifo(self.directory / "pipe")
        for kind in ("link", "table"):
            path = self.write(kind, "kept")
            with h5py.File(path / "segment-00000.h5", "r+") as file:
                if kind == "link":
                    file["elsewhere"] = h5py.ExternalLink(str(self.directory / "pipe"), "/")
                else:
                    del file["slot_step"]
                    file.create_dataset("slot_step", (2,), "i8", external=[(str(self.directory / "pipe"), 0, 16)])
            self.assertIn("names files elsewhere", " ".join(self.problems_of(self.answer_to(path))))

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


class Views(Runs):
    """What HDF5 shows a reader of a kept run is what its segments hold."""
    COUNTS, STRIDE, SLOTS = (1000, 700), 1024, 3  # of u, as write_run lays it out

    def show(self, path, where, rows):
        """Replaces /states/u of the file `where`: a row per (segment, slot), or of other files."""
        with h5py.File(path / where, "r+") as file:
            del file["states/u"]
            layout = h5py.VirtualLayout((len(rows), sum(self.COUNTS)), "f8")
            for row, (source, slot) in enumerate(rows):
                slots = h5py.VirtualSource(source, "slots/u", (2 * self.SLOTS * self.STRIDE,))
                column = 0
                for rank, count in enumerate(self.COUNTS):
                    first = (rank * self.SLOTS + slot) * self.STRIDE
                    layout[row, column:column + count] = slots[first:first + count]
                    column += count
            file.create_virtual_dataset("states/u", layout)

    def problem_of(self, path):
        self.assertIs(self.look("inspect", path)[0]["healthy"], True)
        run, = self.look("verify", path, code=1)
        problem, = self.problems_of(run)
        return problem

    ROWS = [("segment-00000.h5", slot) for slot in range(3)] + \
           [("segment-00001.h5", slot) for slot in range(2)]

    def test_other_states_are_found(self):
        path, other = self.write("right", "kept"), self.write("other", "kept")
        self.show(path, "states.h5", self.ROWS)
        self.show(path, "segment-00001.h5", [(".", slot) for slot in range(3)])
        self.assertEqual(self.problems_of(self.look("verify", path)[0]), [])
        path = other
        for where, rows, said in (
                ("states.h5", self.ROWS[:3] + [self.ROWS[4], self.ROWS[4]], "/states/u does not show x_30 of rank 0"),
                ("states.h5", self.ROWS[:4], "/states/u has another shape"),
                ("segment-00000.h5", [(".", slot) for slot in (0, 2, 2)], "/states/u does not show x_10 of rank 0"),
                # Of a file that is not there HDF5 shows zeros, without an error.
                ("states.h5", self.ROWS[:4] + [("segment-00002.h5", 1)], "states of segment-00002.h5, which is not here"),
                ("states.h5", None, "/states/age is missing")):
            whole = (path / where).read_bytes()
            if rows:
                self.show(path, where, rows)
            else:
                with h5py.File(path / where, "r+") as master:
                    del master["states/age"]
            self.assertIn(said, self.problem_of(path))
            (path / where).write_bytes(whole)

    def test_one_that_hdf5_cannot_read(self):
        """The file is named in which it lies, and not that through which it is read."""
        path = self.write("fin", "kept")
        segment = path / "segment-00000.h5"
        self.show(path, segment.name, [(".", slot) for slot in range(3)])
        everything = bytearray(segment.read_bytes())
        everything[everything.index(b"GCOL") + 71] ^= 0xff  # in the list of sources: HDF5 dies of it
        segment.write_bytes(everything)
        run, = self.look("verify", path, code=1)
        self.assertEqual([file["name"] for file in run["files"] if file["problems"]], [segment.name])


if __name__ == "__main__":
    unittest.main()
