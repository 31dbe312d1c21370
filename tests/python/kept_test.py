# SPDX-License-Identifier: BSD-2-Clause
"""Compressed states that are kept: h5py reads from the files the numbers from which adjoint steps were taken, bit for bit; and all
passes meet the same."""
import subprocess
import sys

import numpy as np
import pytest

import anadrome

STEPS, INTERVAL = 12, 3
EXACT = ("lz4",)
# HDF5's plugin is for the library without MPI.
READ = """
import sys, h5py, numpy
with h5py.File(sys.argv[1]) as file:
    numpy.savez(sys.argv[2], slot_step=file["slot_step"][:], **{name: states[:] for name, states in file["states"].items()})
"""


def states_in(directory):
    """What h5py reads: the steps, and the states of each field."""
    read = directory / "read.npz"
    subprocess.run([sys.executable, "-c", READ, directory / "anadrome" / "states.h5", read], check=True)
    return np.load(read)


@pytest.mark.parametrize("compress", [*EXACT, "float32", "round", "zfp"])
@pytest.mark.parametrize("layout", ["shared", "rank"])
def test_h5py_reads_what_was_restored(comm, directory, without_mpirun, compress, layout):
    rows = 2700 + 7 * comm.rank  # 4 MiB: a block of its own
    u, v, mask = np.zeros((rows, 200)), np.zeros(333, np.complex64), np.zeros(100 * comm.rank, np.int32)
    fields = {"u": u, "v": v, "mask": mask}

    def become(step):
        u[:] = np.sin(np.arange(rows)[:, None] / 9 + step) * np.cos(np.arange(200) / 7)
        v[:] = np.exp(1j * np.arange(333) / 50 + step / 5)
        mask[:] = step

    exact, restored = {}, {}
    with anadrome.Run(comm, schedule="async", interval=INTERVAL, memory="48MiB", keep="on", compress=compress, tolerance="1e-4",
                      directory=str(directory), layout=layout, warnings="off") as run:
        run.state(**fields)
        become(0)
        step = 0
        for action in run.sweep(STEPS):
            match action:
                case anadrome.Advance(first, last, again):
                    for step in range(first + 1, last + 1):
                        become(step)
                case anadrome.Adjoint(k) if k % INTERVAL == 0 and k > 0:
                    restored[k] = {name: field.copy() for name, field in fields.items()}
    for step in restored:
        become(step)
        exact[step] = {name: field.copy() for name, field in fields.items()}

    every = comm.gather((exact, restored))
    if comm.rank > 0:
        return
    kept = states_in(directory)
    steps = kept["slot_step"].tolist()
    assert steps == list(range(0, STEPS, INTERVAL))
    for name in fields:
        if sum(mine[INTERVAL][name].size for mine, _ in every) == 0:
            continue
        for step in steps[1:]:
            mine = np.concatenate([of_rank[step][name].ravel() for _, of_rank in every])
            assert kept[name][steps.index(step)].tobytes() == mine.tobytes(), (name, step)
            before = np.concatenate([of_rank[step][name].ravel() for of_rank, _ in every])
            unchanged = compress in EXACT or name == "mask" or (name == "v" and compress == "float32")
            assert (mine.tobytes() == before.tobytes()) == unchanged, (name, step)
            assert np.abs(mine - before).max() <= 2e-4 * np.abs(before).max()  # of a complex number, in both parts


@pytest.mark.parametrize("compress", ["lz4", "round", "zfp"])
def test_every_pass_meets_the_same_states(comm, directory, without_mpirun, compress):
    u = np.zeros((2700 + 7 * comm.rank, 200))  # 4 MiB: a block of its own

    def step():
        u[:] += 0.01 * np.cos(u)

    exact, met = {}, []
    with anadrome.Run(comm, schedule="async", interval=INTERVAL, memory="48MiB", keep="on", compress=compress, tolerance="1e-4",
                      passes=4, directory=str(directory), warnings="off") as run:
        run.state(u=u)
        u[:] = np.arange(u.size).reshape(u.shape) / u.size
        for action in run.sweep(STEPS):
            if isinstance(action, anadrome.Advance):
                for k in range(action.first, action.last):
                    exact.setdefault(k, u.copy())
                    step()
        for begin in (run.forward_pass, run.reverse_pass, run.forward_pass, run.reverse_pass):
            met.append({})
            for action in begin():
                match action:
                    case anadrome.Advance(first, last):
                        for _ in range(first, last):
                            step()
                    case anadrome.Visit(k) | anadrome.Adjoint(k):
                        met[-1][k] = u.copy()
    for states in met:
        assert sorted(states) == list(range(STEPS))
        for k in states:
            np.testing.assert_array_equal(states[k], met[0][k], str(k))
    changed = [k for k in exact if k in met[0] and not np.array_equal(met[0][k], exact[k])]
    assert (changed == []) == (compress in EXACT)
    every = comm.gather(met[0])
    if comm.rank == 0:
        kept = states_in(directory)
        for slot, k in enumerate(kept["slot_step"].tolist()):
            mine = np.concatenate([of_rank[k].ravel() for of_rank in every])
            assert kept["u"][slot].tobytes() == mine.tobytes(), k
