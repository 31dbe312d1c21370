# SPDX-License-Identifier: BSD-2-Clause
"""What the trajectory says: -help names every option of docs/options.md, -ts_trajectory_view, -ts_trajectory_monitor and
-log_view show what was done, and an error has the library's words.

  output_test.py --programs FOLDER --plugin LIBRARY --options FILE --other-petsc LIBRARY
"""
import argparse
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py

SETTINGS = None
KEY = "-ts_trajectory_anadrome_"


def run(*words, type_options="-ts_trajectory_type anadrome", environment=None):
    with tempfile.TemporaryDirectory(prefix="anadrome-petsc-") as folder:
        return subprocess.run(
            [str(Path(SETTINGS.programs, "ex20adj")), "-ts_type", "cn", "-ts_dt", "0.001", "-mu", "1000",
             "-ts_max_steps", "20", *words],
            cwd=folder, text=True, capture_output=True, timeout=120,
            env={**os.environ, **({"ANADROME_OPTIONS": environment} if environment else {}),
                 "PETSC_OPTIONS": f"-dll_append {SETTINGS.plugin} {type_options}"})


class Output(unittest.TestCase):
    def test_help_names_every_option(self):
        said = run("-help").stdout
        keys = re.findall(r"(?m)^### (\w+)$", Path(SETTINGS.options).read_text())
        self.assertGreater(len(keys), 25)
        not_for_a_ts = ("tolerance", "probe", "gradient_error", "passes", "device_memory")  # no loss, one gradient, records
        keys = [key for key in keys if key not in not_for_a_ts]
        options = [f"anadrome_{key}" for key in [*keys, "set_aside", "replay_tolerance", "steps"]]
        options += ["max_cps_ram", "max_cps_disk", "max_units_ram", "max_units_disk", "stride"]
        self.assertEqual([option for option in options if not re.search(f"-ts_trajectory_{option}[ :]", said)], [])

    def test_what_makes_no_sense_is_refused_in_the_library_s_words(self):
        for words, said in (
                ("compress ZFP", "off or lz4"), ("compress lossy", "off or lz4"), ("schedule undo", "no step of a TS can be undone"),
                ("memroy 8GiB", "anadrome_memroy; the nearest is -ts_trajectory_anadrome_memory; .* memory, "),
                ("memory", "-ts_trajectory_anadrome_memory needs a value"), ("memory lots", "lots"),
                ("set_aside", "-ts_trajectory_anadrome_set_aside: '' is not understood"),
                ("replay_tolerance -1e-8", "it is a number from 0 on"), ("steps 0", "it is a number from 1 on"),
                ("directory /nowhere/at/all -ts_trajectory_stride 2", r"ANADROME_ERR_\w+: .*/nowhere/at/all"),
                # Before the first step, though no file would be needed.
                ("directory /nowhere/at/all", "-ts_trajectory_anadrome_directory /nowhere/at/all: No such file")):
            done = run(*(KEY + words).split())
            self.assertNotEqual(done.returncode, 0, words)
            self.assertRegex(done.stderr.replace("\n[0]PETSC ERROR: ", " "), said)
        for environment, key in (("memroy=64MiB", "memory"), ("memory=64MiB reprot=-", "report")):
            done = run(environment=environment)
            self.assertNotEqual(done.returncode, 0, environment)
            self.assertRegex(done.stderr, f"there is no option '(memroy|reprot)'; the nearest is '{key}'")
        self.assertIn("has a comma before another option", run(environment="report=out.txt,memory=64MiB").stderr)

    def test_view_says_how_much_there_was_room_for(self):
        for words, environment, said in (
                (("-ts_max_steps", "1", "-ts_trajectory_stride", "1"), None, r"schedule async, 1 step, "),
                (("-ts_trajectory_stride", "1"), None, r"checkpoints for disk: \d+, one every step; none was written\n(?s:.*)written 0 B,"),
                ((), None, r"every record of 20 steps is kept in memory; there is room for \d{4,} of them beside the 16\.0 MiB"),
                ((), "memory=300MiB", "\\b0 steps run again"),
                (("-ts_trajectory_stride", "2"), "memory=300MiB report=-", r"284 MiB of memory beside the 16\.0 MiB that are set aside"),
                (("-ts_trajectory_stride", "2"), "memory=300MiB report=-",
                 r"of 284 MiB per rank(?s:.*)\n  plugin     of 300 MiB asked for, 16\.0 MiB are set aside")):
            self.assertRegex(run("-ts_trajectory_view", *words, environment=environment).stdout, said)

    def test_view_shows_plan_and_statistics(self):
        said = run("-ts_trajectory_view", "-ts_trajectory_max_cps_ram", "4").stdout
        self.assertIn("type: anadrome", said)
        self.assertRegex(said, r"schedule revolve, 20 steps")
        self.assertRegex(said, r"checkpoints in memory: 4 at most")
        steps = int(re.search(r"(\d+) steps run again", said).group(1))
        self.assertGreater(steps, 20)
        self.assertIn(f"recomputations for adjoint calculation = {steps}", said)

    def test_view_says_what_was_compared(self):
        for words, said in (((), "compared nothing: no step was run twice"),
                            (("-ts_trajectory_max_cps_ram", "4"), r"compared \d{2} steps with their first run"),
                            (("-ts_trajectory_max_cps_ram", "4", KEY + "audit", "off"), "compared nothing: audit is off")):
            self.assertRegex(run("-ts_trajectory_view", *words).stdout, f"\n  {said}\n")
            reported = run(KEY + "report", "-", *words).stdout
            self.assertEqual("compared" in reported, "-ts_trajectory_max_cps_ram" not in words, "the library does not know it")

    def test_view_counts_what_goes_to_disk(self):
        said = run("-ts_trajectory_view", "-ts_trajectory_stride", "2", "-ts_trajectory_anadrome_checkpoints", "1",
                   "-ts_trajectory_anadrome_memory", "64KiB", "-ts_max_steps", "400").stdout
        self.assertRegex(said, r"schedule async, 400 steps")
        self.assertRegex(said, r"checkpoints for disk: \d+, one every 2 steps at the end\n")
        for moved in ("writes", "reads"):
            states = int(re.search(rf"disk checkpoint {moved} = (\d+)", said).group(1))
            self.assertGreater(states, 100)
            self.assertLessEqual(states, 205, "a state every two steps, x_0 twice, seldom one that is read again")

    def test_files_that_stay_hold_solutions_and_nothing_is_run_again(self):
        for words in ((KEY + "keep", "on"), ("-ts_trajectory_keep_files",), (KEY + "keep", "on", KEY + "steps", "20"),
                      (KEY + "keep", "on", KEY + "progress", "on"), (KEY + "report", "-", KEY + "steps", "20"),
                      (KEY + "trace", "trace.json", KEY + "steps", "20")):
            with tempfile.TemporaryDirectory() as folder:
                said = run("-ts_trajectory_view", KEY + "directory", folder, *words)
                self.assertRegex(said.stdout, r"\b0 steps run again", f"{words} {said.stderr}")
                masters = list(Path(folder).glob("*/states.h5"))
                self.assertEqual(len(masters), "keep" in words[0], words)
                for path in masters:
                    with h5py.File(path, "r") as master:
                        steps = master["slot_step"][:].tolist()
                        self.assertTrue(steps[0] == 0 and sorted(set(steps)) == steps and steps[-1] <= 20, steps)
                        self.assertEqual(master["states/step"][:, 0].tolist(), steps)
                        first = master["states/solution"][0].tobytes()
                    self.assertEqual(first[:8], struct.pack("=d", 2), "the first number of x_0")

    def test_monitor_shows_steps_run_again(self):
        said = run("-ts_trajectory_monitor", "-ts_trajectory_max_cps_ram", "4").stdout
        self.assertRegex(said, r"TSTrajectoryGet: stepnum 7")
        self.assertRegex(said, r"anadrome: steps \d+ to \d+ run again")

    def test_solvers_say_nothing_when_steps_are_run_again(self):
        words = ["-snes_monitor", "-snes_converged_reason", "-snes_view", "-ksp_monitor", "-ksp_converged_reason",
                 "-ksp_view", "-ksp_view_solution"]
        said = [re.sub("0x[0-9a-f]+", "0x", run(*words, type_options=f"-ts_trajectory_type {kept}").stdout)
                for kept in ("basic", "anadrome -ts_trajectory_max_cps_ram 4")]
        self.assertGreater(said[0].count("converged"), 40)
        self.assertEqual(said[0], said[1])

    def test_log_view_shows_events(self):
        said = run("-log_view", "-ts_trajectory_max_cps_ram", "4").stdout
        for event in ("AnadromeKeep", "AnadromeRestore", "AnadromeRecomp", "AnadromeWait"):
            self.assertRegex(said, rf"(?m)^{event} +[1-9]")

    def test_advice_belongs_to_its_error(self):
        steps, memory = f"{KEY}steps", f"{KEY}memory"
        for words, advice in (([f"{KEY}schedule", "mixed"], steps), ([f"{KEY}memory", "1KiB", f"{KEY}schedule", "async"], memory),
                              ([f"{KEY}directory", "/nowhere/at/all", "-ts_trajectory_stride", "2"], None)):
            done = run(*words)
            self.assertNotEqual(done.returncode, 0, words)
            said = re.search(r"ANADROME_ERR_.*", done.stderr)[0]
            for each in (steps, memory):
                self.assertEqual(f"{each} " in said, each == advice, said)

    def test_errors_name_what_the_user_has_set(self):
        for words, said in (([f"{KEY}memory", "1KiB", f"{KEY}schedule", "async"], f"{KEY}memory is 1.00 KiB, too small: it must be"),
                            (["-ts_trajectory_max_cps_disk", "3", f"{KEY}directory", "one,two"],
                             "-ts_trajectory_max_cps_disk sets the option disk, to what 3 states take")):
            done = run(*words)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn(said, done.stderr)
            self.assertNotIn("memory=1 B", done.stderr)

    def test_another_petsc_is_refused(self):
        with tempfile.TemporaryDirectory(prefix="anadrome-petsc-") as folder:
            done = subprocess.run(
                [str(Path(SETTINGS.programs, "ex20adj")), "-dll_append", SETTINGS.plugin], cwd=folder, text=True,
                capture_output=True, timeout=120,
                env=dict(os.environ, PETSC_OPTIONS="", LD_PRELOAD=SETTINGS.other_petsc))
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"libanadrome_petsc was built for PETSc 3\.\d+ and this is 3\.99; build it for this one")

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for flag in ("--programs", "--plugin", "--options", "--other-petsc"):
        parser.add_argument(flag, required=True)
    SETTINGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
