# SPDX-License-Identifier: BSD-2-Clause
"""Compressed states that are kept: h5py reads from the files the numbers from which adjoint steps were taken, bit for bit."""
import subprocess
import sys

import numpy as np
import pytest

import anadrome

STEPS, INTERVAL = 12, 3
EXACT = ("lz4", "zstd")
# HDF5's plugin is for the library without MPI.
READ = """
import sys, h5py, numpy
with h5py.File(sys.argv[1]) as file:
    numpy.savez(sys.argv[2], slot_step=file["slot_step"][:], **{name: states[:] for name, states in file["states"].items()})
"""


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
    subprocess.run([sys.executable, "-c", READ, directory / "anadrome" / "states.h5", directory / "read.npz"], check=True)
    kept = np.load(directory / "read.npz")
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
