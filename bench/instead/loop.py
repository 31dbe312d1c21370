# SPDX-License-Identifier: BSD-2-Clause
"""loop.py WAY SIDE STEPS SLOTS GRADIENT_FILE DIRECTORY LIBRARY [CHECKPOINT_SCHEDULES]

The problem as a loop of Python, with the states kept in one way; prints seconds,forward_steps and the most bytes of memory.
SLOTS: how many states the memory holds. LIBRARY: libinstead_reaction.so, whose step takes nearly all of the time. Ways:

nothing         no state is kept, and the gradient means nothing
list            every state in a list
h5py            every state to a dataset
h5py_synced     the same, and no more of it in the page cache than the memory holds
revolve         checkpoint_schedules: Revolve, in memory
multistage      checkpoint_schedules: MultistageCheckpointSchedule; what does not fit into the memory goes to HDF5
hrevolve        checkpoint_schedules: HRevolve; the costs of a step and of a transfer are measured first
anadrome        anadrome.Run"""
import ctypes
import os
import resource
import sys
import time

import h5py._debian_h5py_serial as h5py
import numpy as np

import anadrome

WAY, DIRECTORY, LIBRARY = sys.argv[1], sys.argv[6], ctypes.CDLL(sys.argv[7])
SIDE, STEPS, SLOTS = map(int, sys.argv[2:5])
if len(sys.argv) > 8:
    sys.path.insert(0, sys.argv[8])
    import checkpoint_schedules as cs

WORK = np.empty(SIDE * SIDE)
forward_steps = 0


def address(array):
    return ctypes.c_void_p(array.ctypes.data)


def step(u):
    global forward_steps
    forward_steps += 1
    LIBRARY.reaction_step(ctypes.c_size_t(SIDE), address(u), address(WORK))


def adjoint_step(u, lam):
    LIBRARY.reaction_adjoint_step(ctypes.c_size_t(SIDE), address(u), address(lam), address(WORK))


class File:
    """States in an HDF5 file, a dataset each."""

    def __init__(self, unsynced=None):
        self.path, self.unsynced, self.waiting = os.path.join(DIRECTORY, f"{WAY}.h5"), unsynced, 0
        self.file = h5py.File(self.path, "w")

    def __setitem__(self, k, u):
        self.file[str(k)] = u
        self.moved()

    def read(self, k, u):
        self.file[str(k)].read_direct(u)
        self.moved()

    def moved(self):
        self.waiting += 1
        if self.unsynced and self.waiting >= self.unsynced:
            self.drop()

    def __delitem__(self, k):
        del self.file[str(k)]

    def drop(self):
        self.waiting = 0
        self.file.flush()
        descriptor = os.open(self.path, os.O_RDWR)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)

    def close(self):
        self.file.close()
        os.remove(self.path)


def nothing(u):
    for _ in range(STEPS):
        step(u)
    lam = u.copy()
    for _ in range(STEPS):
        adjoint_step(u, lam)
    return lam


def in_list(u):
    states = []
    for _ in range(STEPS):
        states.append(u.copy())
        step(u)
    lam = u
    while states:
        adjoint_step(states.pop(), lam)
    return lam


def in_file(u, unsynced=None):
    file = File(unsynced)
    for k in range(STEPS):
        file[k] = u
        step(u)
    lam = u.copy()
    for k in reversed(range(STEPS)):
        file.read(k, u)
        adjoint_step(u, lam)
    file.close()
    return lam


def by_schedule(u, schedule):
    """Does what checkpoint_schedules says."""
    file, ram, before, lam = File(SLOTS), {}, None, None
    disk = cs.StorageType.DISK
    for action in schedule:
        if isinstance(action, cs.Forward):
            if action.write_ics:
                if action.storage == disk:
                    file[action.n0] = u
                else:
                    ram[action.n0] = u.copy()
            for k in range(action.n0, action.n1):
                if action.write_adj_deps:  # always a single step
                    before = u.copy()
                step(u)
        elif isinstance(action, cs.EndForward):
            lam = u.copy()
        elif isinstance(action, cs.Reverse):
            adjoint_step(before, lam)
        elif isinstance(action, (cs.Copy, cs.Move)):
            if action.from_storage == disk:
                file.read(action.n, u)
            else:
                np.copyto(u, ram[action.n])
            if isinstance(action, cs.Move):
                if action.from_storage == disk:
                    del file[action.n]
                else:
                    del ram[action.n]
        elif isinstance(action, cs.EndReverse):
            break
    file.close()
    return lam


def measured_costs(u):
    """Seconds of a write and of a read, in steps."""
    global forward_steps
    file, spare = File(SLOTS), u.copy()
    times = [time.perf_counter()]
    for k in range(2 * SLOTS):
        file[k] = u
    times.append(time.perf_counter())
    for k in range(2 * SLOTS):
        file.read(k, spare)
    times.append(time.perf_counter())
    for _ in range(10):
        step(spare)
    forward_steps = 0
    step_seconds = (time.perf_counter() - times[-1]) / 10
    file.close()
    return [(times[i + 1] - times[i]) / (2 * SLOTS) / step_seconds for i in (0, 1)]


def by_anadrome(u):
    lam = np.empty_like(u)
    with anadrome.Run(memory=f"{SLOTS * u.nbytes}B", directory=DIRECTORY) as run:
        run.state(u=u)
        run.adjoint(lam=lam)
        for action in run.sweep(STEPS):
            match action:
                case anadrome.Advance(first, last):
                    for _ in range(first, last):
                        step(u)
                case anadrome.Turn():
                    lam[:] = u
                case anadrome.Adjoint():
                    adjoint_step(u, lam)
    return lam


WAYS = {
    "nothing": lambda u, _: nothing(u),
    "list": lambda u, _: in_list(u),
    "h5py": lambda u, _: in_file(u),
    "h5py_synced": lambda u, _: in_file(u, SLOTS),
    "revolve": lambda u, _: by_schedule(u, cs.Revolve(STEPS, SLOTS)),
    "multistage": lambda u, _: by_schedule(u, cs.MultistageCheckpointSchedule(STEPS, SLOTS, STEPS)),
    "hrevolve": lambda u, costs: by_schedule(u, cs.HRevolve(STEPS, SLOTS, 2 * SLOTS, wd=costs[0], rd=costs[1])),
    "anadrome": lambda u, _: by_anadrome(u),
}


def main():
    u = np.empty(SIDE * SIDE)
    LIBRARY.reaction_fill(ctypes.c_size_t(SIDE), address(u))
    costs = measured_costs(u) if WAY == "hrevolve" else None
    start = time.perf_counter()
    gradient = WAYS[WAY](u, costs)
    seconds = time.perf_counter() - start
    print(f"{seconds:.6f},{forward_steps},{1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}")
    gradient.tofile(sys.argv[5])


main()
