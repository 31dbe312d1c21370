# SPDX-License-Identifier: BSD-2-Clause
"""The summary's advice against the truth: each sweep is run again with twice the memory, or twice the room on disk."""
import os
import re
import subprocess

from table import markdown

STATE, MEMORY, STEPS = 1 << 20, (4, 8, 16), 120
SLOW, FAST = "bandwidth_limit=15MB/s ", ""
# Options, bytes of a disk that holds no more, the reverse step at which the sweep is killed first.
CASES = [("schedule=revolve", None, 0), ("schedule=async interval=20", None, 0),
         (SLOW + "schedule=async", None, 0), (FAST + "schedule=async", None, 0),
         (SLOW + "schedule=async interval=5", None, 0), ("schedule=async", 6 << 20, 0)]
ONCE = [("schedule=revolve checkpoints=6", None, 0), 
        (SLOW + "schedule=async disk=8MiB", None, 0), ("schedule=auto", None, 0),
        (SLOW + "schedule=async keep=on", None, 0), (SLOW + "transport=mpio interval=10", None, 0),
        (SLOW + "schedule=async resume=on checkpoint_interval=0", None, 40), ("interval=20", 12 << 20, 0)]
DISKS = ["schedule=async disk={}MiB", "schedule=async interval=4 disk={}MiB"]  # 8, and then 16


def sweep(bench, memory, options, room=None, kill_at=0, knob="twice the memory"):
    """Seconds of a sweep, and what its summary says twice as much of something would make of them."""
    environment = dict(os.environ, ANADROME_OPTIONS=f"directory={bench.states} memory={memory} "
                                                    f"report=- {options}")
    command = ["mpirun", "-n", "1", os.path.join(bench.programs, "bench_advice"), "--bytes",
               str(STATE), "--steps", str(STEPS)]
    if room:  # a file system of the bench's own
        mounted = f'mount -t tmpfs -o size={room} none {bench.states} && exec "$@"'
        command = ["unshare", "--mount", "sh", "-c", mounted, "sh"] + command
    if kill_at:
        subprocess.run(["timeout", "300"] + command + ["--kill-at", str(kill_at)], env=environment,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    bench.last_command = " ".join(command)
    said = subprocess.run(["timeout", "300"] + command, env=environment, text=True, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    seconds = float(re.search(r"^seconds (\S+)$", said, re.M)[1])
    advice = re.search(knob + r"(?: gains (nothing)|[^(;]*\((\S+) % less\))", said)
    if not advice:
        return seconds, None
    return seconds, seconds if advice[1] else seconds * (1 - float(advice[2]) / 100)


def run(bench, claims):
    cases = [(memory, *case) for case in CASES for memory in MEMORY] + [(6, *case) for case in ONCE]
    cases += [(4, options, None, 0) for options in DISKS]
    rows, told, right = [], 0, 0
    for memory, options, room, kill_at in cases:
        budget, of_disk = int((memory + 0.5) * STATE), options in DISKS
        options, after = options.format(8), options.format(16)
        knob = "twice the room on disk" if of_disk else "twice the memory"
        turns = range(bench.choose(3, 1))
        taken = [sweep(bench, budget, options, room, kill_at, knob) for _ in turns]
        now, promised = min(taken, key=lambda turn: turn[0])  # what disturbs a turn makes it longer
        then = min(sweep(bench, (1 if of_disk else 2) * budget, after, room)[0] for _ in turns)
        off = None if promised is None else promised / then - 1
        told += off is not None
        right += off is not None and abs(off) <= 0.1
        rows.append([f"`{options}`" + (f", full at {room >> 20} MiB" if room else "") +
                     (", gone on with" if kill_at else ""), f"{memory}.5 MiB", f"{now:.2f} s",
                     "-" if off is None else f"{promised:.2f} s", f"{then:.2f} s",
                     "nothing is said" if off is None else f"{100 * off:+.1f} %"])
    claims.at_least("what twice the memory or room would take is told within 10 %: share of the cases",
                    [right / max(told, 1)], 1)
    return (f"\n{STEPS} steps of 6 ms, adjoint steps of 12 ms, states of 1 MiB. {right} of {told} "
            f"within 10 %.\n\n" + markdown(["options", "memory", "took", "promised with twice",
                                            "took with twice", "promise off by"], rows))
