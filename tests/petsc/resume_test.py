# SPDX-License-Identifier: BSD-2-Clause
"""A TS that is killed (-9) in TSSolve or in TSAdjointSolve goes on when it is started again, and ends with the bits
of a run with PETSc's own trajectory; and where it cannot, it says why.

  resume_test.py --program KILLED_OSCILLATORS [--petsc VERSION] [--full]
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py

SETTINGS = None
BASIC = "-ts_trajectory_type basic"
RESUME = ("-ts_trajectory_type anadrome -ts_trajectory_anadrome_memory 64MiB -ts_trajectory_anadrome_set_aside 40MiB "
          "-ts_trajectory_stride 5 -ts_trajectory_anadrome_checkpoints 4 -ts_trajectory_anadrome_resume on "
          "-ts_trajectory_anadrome_checkpoint_interval 0")
ANCHOR = r"going on at step ([1-9]\d*), forward"
RK4 = "-ts_type rk -ts_rk_type 4 -ts_adapt_type none"
# Name, ranks, method, words for the program, steps of the kills in TSSolve, in TSAdjointSolve, in --full alone?
RUNS = [
    ("rk4", 1, RK4, [], [80], [151], True),
    ("rk5dp", 1, "-ts_type rk -ts_rk_type 5dp -ts_rtol 1e-8 -ts_atol 1e-8", ["events"], [150], [101], False),
    ("rk3bs", 1, "-ts_type rk -ts_rk_type 3bs -ts_rtol 1e-6 -ts_atol 1e-6", [], [80, 150], [51], True),
    ("cn", 1, "-ts_type cn", ["events"], [150], [51], True),
    ("cn_adaptive", 1, "-ts_type cn -ts_theta_adapt -ts_adapt_type basic -ts_atol 1e-3", [], [150], [51], False),
    ("cn_extrapolated", 1, "-ts_type cn -ts_theta_initial_guess_extrapolate", [], [80], [51], True),
    ("midpoint", 2, "-ts_type theta -ts_theta_theta 0.5", [], [80], [51], True),
    ("bdf", 1, "-ts_type bdf -ts_bdf_order 3 -ts_adapt_type basic -ts_rtol 1e-5", ["adjoint", "0"], [150], [], False),
    ("bdf_events", 1, "-ts_type bdf", ["adjoint", "0", "events"], [80, 150], [], True),
    ("arkimex", 1, "-ts_type arkimex -ts_arkimex_fully_implicit -ts_adapt_type none", ["adjoint", "0"], [150], [], True),
    ("arkimex_events", 2, "-ts_type arkimex -ts_adapt_type none", ["adjoint", "0", "events"], [150], [], True),
    ("arkimex_adjoint", 2, "-ts_type arkimex -ts_adapt_type none", ["damped"], [150], [51], False),
    ("arkimex_adaptive", 1, "-ts_type arkimex -ts_arkimex_type 4 -ts_rtol 1e-6 -ts_atol 1e-6", ["damped", "events"], [80], [51], False),
    ("several_solves", 2, RK4, ["solves", "3", "events", "forward_integral", "2"], [100], [151], False),
    ("pieces", 1, RK4, ["pieces", "4", "clock", "40"], [], [70], False),
    ("twice", 1, RK4, ["again", "2", "in", "1"], [], [51], False),
    ("bdf_four", 4, "-ts_type bdf", ["adjoint", "0"], [100], [], True),
    ("arkimex_four", 4, "-ts_type arkimex -ts_adapt_type none", ["adjoint", "0"], [150], [], True),
    ("arkimex_adjoint_four", 4, "-ts_type arkimex -ts_adapt_type none", ["damped"], [80, 150], [51], True),
    ("four", 4, "-ts_type cn", [], [80], [101], True),
    ("four_rk4", 4, RK4, ["events"], [80, 150], [101], True),
]


EXPECTED = {}


class Program:
    def __init__(self, ranks, method, words, folder):
        self.ranks, self.method, self.words, self.folder = ranks, method, words, folder

    def run(self, kept, *words):
        command = ["mpiexec", "-n", str(self.ranks)] if self.ranks > 1 else []
        return subprocess.run([*command, SETTINGS.program, f"{self.method} {kept}", *self.words, *words],
                              cwd=self.folder, text=True, capture_output=True, timeout=200,
                              env=dict(os.environ, PETSC_OPTIONS=""))

    def found(self):
        files = sorted(Path(self.folder).glob("found.*"))
        bits = [file.read_bytes() for file in files]
        for file in files:
            file.unlink()
        return bits

    def expected(self):
        """What it finds with PETSc's own trajectory."""
        key = self.ranks, self.method, *self.words
        if key not in EXPECTED:
            done = self.run(BASIC)
            assert done.returncode == 0, done.stderr
            EXPECTED[key] = self.found()
            assert len(EXPECTED[key]) == self.ranks
        return EXPECTED[key]

    def left(self):
        return sorted(path.name for path in Path(self.folder).iterdir())


class Resume(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="anadrome-petsc-")
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def killed(self, program, *words, kept=RESUME):
        done = program.run(kept, *words)
        self.assertNotEqual(done.returncode, 0, f"nobody was killed: {words}")
        self.assertEqual(program.found(), [])

    def goes_on(self, program, expected, where, kept=RESUME):
        done = program.run(kept)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, where)
        self.assertEqual(program.found(), expected)
        step = re.search(ANCHOR, done.stderr)
        return int(step[1]) if step else 0

    def test_bits(self):
        for name, ranks, method, words, forward, reverse, full in RUNS:
            if full and not SETTINGS.full:
                continue
            if "arkimex" in name and reverse and SETTINGS.petsc < (3, 19):
                continue  # it has no adjoint there
            with self.subTest(name), tempfile.TemporaryDirectory(prefix="anadrome-petsc-") as folder:
                program = Program(ranks, method, words, folder)
                expected = program.expected()
                # Killed at several places in a row, on the last rank, and then in the reverse sweep.
                for step in forward:
                    self.killed(program, "forward", str(step), "rank", str(ranks - 1))
                if not reverse:
                    self.goes_on(program, expected, ANCHOR)
                for step in reverse:
                    self.killed(program, "reverse", str(step))
                    self.assertTrue([name for name in program.left() if ".adjoint." in name])
                if reverse:
                    self.goes_on(program, expected, rf"TSAdjointSolve goes on at step {step} of")
                    self.assertEqual(program.left(), [], "a sweep that is over leaves nothing")

    def test_another_program_and_notes_that_are_too_short_are_refused(self):
        program = Program(1, RK4, [], self.folder)
        self.killed(program, "forward", "100")
        for words, method, said in (
                (["stiffness", "4"], RK4, "the program's equations are others than they were"),
                (["start", "1"], RK4, "the first solution or time step is another one"),
                (["size", "40"], RK4, "the first solution or time step is another one"),
                ([], f"{RK4} -ts_max_steps 150", "the number of steps, the end of the time"),
                ([], f"{RK4} -ts_rtol 1e-9", "a tolerance or the step controller is another one"),
                ([], "-ts_type cn", "ANADROME_ERR_ARGUMENT")):
            other = Program(1, method, words, self.folder)
            done = other.run(RESUME)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn(said, re.sub(r"\n\[0\]PETSC ERROR: ", " ", done.stderr))
        with tempfile.TemporaryDirectory(prefix="anadrome-petsc-") as copy:
            shutil.copytree(self.folder, copy, dirs_exist_ok=True)
            notes = Path(copy, "TS.0.notes")
            notes.write_bytes(notes.read_bytes()[:1000])  # too short
            done = Program(1, RK4, [], copy).run(RESUME)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("do not reach step", done.stderr)
        self.assertEqual(program.run(RESUME).returncode, 0)  # nothing of that has harmed it

    def test_a_problem_of_the_user_is_that_of_a_ts_still(self):
        program, named = Program(1, RK4, [], self.folder), f"{RESUME} -ts_trajectory_anadrome_problem"
        said = program.run(f"{named} x", "forward", "100").stderr
        self.assertIn("option problem was", program.run(f"{named} y").stderr)
        done = program.run(f"{named} x")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, ANCHOR)
        self.assertNotRegex(said + done.stderr, "nothing is committed after TURN|adds up begins anew")

    def test_another_integrand_in_the_forward_sweep_is_refused(self):
        program = Program(1, RK4, ["forward_integral", "2"], self.folder)
        for killed in ("forward", "reverse"):
            self.killed(program, killed, "101")
            done = Program(1, RK4, ["forward_integral", "3"], self.folder).run(RESUME)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("the program's equations are others than they were", done.stderr)
        self.assertEqual(program.run(RESUME).returncode, 0)

    def test_another_integrand_in_the_reverse_sweep_costs_steps_alone(self):
        program, other = (Program(1, RK4, ["integral", weight], self.folder) for weight in "23")
        for goes_on, where in ((program, "TSAdjointSolve goes on at step 51 of"), (other, f"{ANCHOR}(?!(?s:.*)TSAdjoint)")):
            expected = goes_on.expected()
            self.killed(program, "reverse", "51")
            self.goes_on(goes_on, expected, where)

    def test_no_commit_yet_or_a_flipped_bit_in_one_costs_steps_alone(self):
        program = Program(1, RK4, [], self.folder)
        expected = program.expected()
        self.killed(program, "forward", "2")  # before its first commit
        self.goes_on(program, expected, "ended before its first commit|going on at step 0, forward|^$")
        self.killed(program, "reverse", "51")
        for which in (0, 1):
            commit = Path(self.folder, f"TS.0.adjoint.{which}")
            bytes_ = bytearray(commit.read_bytes())
            bytes_[len(bytes_) // 2] ^= 1
            commit.write_bytes(bytes_)
        done = program.run(RESUME)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("TSAdjointSolve goes on", done.stderr)
        self.assertEqual(program.found(), expected)

    def test_an_anchor_that_cannot_be_read_costs_steps_alone(self):
        every_step = RESUME.replace("stride 5", "stride 1")  # so that there is a block before the newest
        program = Program(1, RK4, [], self.folder)
        expected = program.expected()
        self.killed(program, "forward", "180", kept=every_step)
        with tempfile.TemporaryDirectory(prefix="anadrome-petsc-") as copy:
            shutil.copytree(self.folder, copy, dirs_exist_ok=True)
            newest = self.goes_on(Program(1, RK4, [], copy), expected, ANCHOR, every_step)
        for path in Path(self.folder, "TS").glob("segment-0*.h5"):
            with h5py.File(path, "r+") as segment:
                states, slots = segment["slots/solution"], len(segment["slot_step"])
                slot = newest - segment.attrs["first_slot"]  # an anchor at every step, a state in every slot
                if 0 <= slot < slots:
                    states[slot * (len(states) // slots) + 1000] ^= 1
        self.assertLess(self.goes_on(program, expected, ANCHOR, every_step), newest)

    def test_notes_that_cannot_be_written_are_an_error_on_all_ranks(self):
        def put_link(path):
            path.symlink_to("nowhere")

        def put_users_link(path):
            Path(self.folder, "mine").touch()
            os.link(Path(self.folder, "mine"), path)

        def put_anothers(path):
            path.touch()
            os.chown(path, 65534, -1)

        notes = Path(self.folder, "TS.1.notes")
        of_another = (put_anothers,) if os.geteuid() == 0 else ()
        for put in (os.mkfifo, put_link, put_users_link, *of_another):
            put(notes)
            there = notes.lstat()
            done = Program(2, RK4, [], self.folder).run(RESUME)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("the notes for resume=on cannot be written on every rank", done.stderr)
            self.assertTrue(os.path.samestat(notes.lstat(), there))
            self.assertEqual(notes.lstat().st_size, there.st_size)
            notes.unlink()

    def test_what_cannot_go_on_is_refused_at_the_start(self):
        for method, said in (("-ts_type rosw", "-ts_type rosw: what it remembers"),
                             ("-ts_type cn -ts_theta_adapt -ts_adapt_type dsp", "-ts_adapt_type dsp: what it"),
                             (f"{RK4} -ts_trajectory_anadrome_schedule store_all", "schedule=async")):
            done = Program(1, method, ["adjoint", "0"], self.folder).run(RESUME)
            self.assertNotEqual(done.returncode, 0, method)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--petsc", type=lambda version: tuple(map(int, version.split("."))), default=(3, 18))
    parser.add_argument("--full", action="store_true")
    SETTINGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
