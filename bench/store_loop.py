# SPDX-License-Identifier: BSD-2-Clause
"""A loop that keeps every state and wants them back in reverse, with the states kept in several ways, in turns:

  mpirun -n 2 python3 bench/store_loop.py --write-steps 1 --directory D

ram: a list. per_rank: h5py, a file for each rank. mpio: h5py, one file with MPI-IO. npy: numpy.save. store: anadrome.Store.

All ways but ram write to one directory, and every byte is paid for: the file-based ways sync what they wrote and drop
it from the page cache before the reverse sweep. `--write-steps W` limits each rank so that the write of a state
takes W steps: writers and readers other than the store sleep for the rest of that time, the store has
bandwidth_limit. Rank 0 prints a row for each way and turn: total seconds, seconds in put and get, the most memory beyond
what the loop itself has, in bytes, and the gradient."""
import argparse
import gc
import os
import shutil
import sys
import time

import h5py._debian_h5py_mpi as h5py
import numpy as np
from mpi4py import MPI

import anadrome

COMM = MPI.COMM_WORLD
RANK = COMM.rank


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


class Limit:
    """Sleeps until so many bytes may have been moved since it was made."""

    def __init__(self, seconds_per_state):
        self.due = time.perf_counter() + seconds_per_state

    def keep(self):
        rest = self.due - time.perf_counter()
        if rest > 0:
            time.sleep(rest)


def sync_and_drop(path):
    descriptor = os.open(path, os.O_RDWR)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


class Ram:
    def __init__(self, arguments):
        self.states = []

    def put(self, k, u):
        self.states.append(u.copy())

    def get(self, k, u):
        u[:] = self.states.pop()

    def turn(self):
        pass

    def close(self):
        self.states = []


class Npy:
    def __init__(self, arguments):
        self.seconds = arguments.seconds_per_state
        self.path = f"{arguments.directory}/npy-{RANK}"
        os.makedirs(self.path)

    def put(self, k, u):
        limit = Limit(self.seconds)
        np.save(f"{self.path}/{k}.npy", u)
        sync_and_drop(f"{self.path}/{k}.npy")
        limit.keep()

    def get(self, k, u):
        limit = Limit(self.seconds)
        u[:] = np.load(f"{self.path}/{k}.npy")
        os.remove(f"{self.path}/{k}.npy")
        limit.keep()

    def turn(self):
        pass

    def close(self):
        shutil.rmtree(self.path)


class PerRank:
    def __init__(self, arguments):
        self.seconds = arguments.seconds_per_state
        self.path = f"{arguments.directory}/per-rank-{RANK}.h5"
        self.file = h5py.File(self.path, "w")

    def put(self, k, u):
        limit = Limit(self.seconds)
        self.file[str(k)] = u
        self.file.flush()
        sync_and_drop(self.path)
        limit.keep()

    def get(self, k, u):
        limit = Limit(self.seconds)
        self.file[str(k)].read_direct(u)
        limit.keep()

    def turn(self):
        pass

    def close(self):
        self.file.close()
        os.remove(self.path)


class Mpio:
    def __init__(self, arguments):
        self.seconds = arguments.seconds_per_state
        self.path = f"{arguments.directory}/mpio.h5"
        self.file = h5py.File(self.path, "w", driver="mpio", comm=COMM)

    def put(self, k, u):
        limit = Limit(self.seconds)
        data = self.file.create_dataset(str(k), (COMM.size, u.size), "f8")
        with data.collective:
            data[RANK] = u
        self.file.flush()
        sync_and_drop(self.path)
        limit.keep()

    def get(self, k, u):
        limit = Limit(self.seconds)
        with self.file[str(k)].collective:
            u[:] = self.file[str(k)][RANK]
        limit.keep()

    def turn(self):
        pass

    def close(self):
        self.file.close()
        COMM.barrier()
        if RANK == 0:
            os.remove(self.path)


class Store:
    def __init__(self, arguments):
        limit = int(arguments.bytes / arguments.seconds_per_state)
        self.store = anadrome.Store(COMM, memory=arguments.memory, directory=arguments.directory,
                                    bandwidth_limit=f"{limit}B/s")

    def put(self, k, u):
        self.store[k, "u"] = u

    def get(self, k, u):
        self.store.get((k, "u"), out=u)
        del self.store[k, "u"]

    def turn(self):
        pass

    def close(self):
        self.store.close()


WAYS = {"ram": Ram, "per_rank": PerRank, "mpio": Mpio, "npy": Npy, "store": Store}


def step(u, passes):
    for _ in range(passes):
        np.multiply(u, 0.9999, out=u)


def sweep(way, arguments, u, scratch):
    COMM.barrier()
    before, start, inside, most = resident(), time.perf_counter(), 0.0, 0
    keeper = WAYS[way](arguments)
    u[:] = 1 + RANK
    for k in range(arguments.steps):
        begin = time.perf_counter()
        keeper.put(k, u)
        inside += time.perf_counter() - begin
        step(u, arguments.passes)
        most = max(most, resident() - before)
    gradient = float(u[0])
    for k in reversed(range(arguments.steps)):
        begin = time.perf_counter()
        keeper.get(k, u)
        inside += time.perf_counter() - begin
        gradient += 1e-3 * float(u[0])
        step(scratch, 2 * arguments.passes)
        most = max(most, resident() - before)
    seconds = COMM.allreduce(time.perf_counter() - start, MPI.MAX)
    keeper.close()
    gc.collect()
    return seconds, COMM.allreduce(inside, MPI.MAX), COMM.allreduce(most, MPI.MAX), gradient


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--bytes", type=int, default=8 << 20)
    parser.add_argument("--memory", default="256MiB")
    parser.add_argument("--step-seconds", type=float, default=0.02)
    parser.add_argument("--write-steps", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--directory", required=True)
    arguments = parser.parse_args()
    u, scratch = np.ones(arguments.bytes // 8), np.ones(arguments.bytes // 8)
    step(u, 10)
    COMM.barrier()
    begin = time.perf_counter()
    step(u, 50)
    arguments.passes = COMM.bcast(max(1, round(50 * arguments.step_seconds / (time.perf_counter() - begin))))
    begin = time.perf_counter()
    for _ in range(20):
        step(u, arguments.passes)
    step_seconds = COMM.bcast((time.perf_counter() - begin) / 20)
    arguments.seconds_per_state = arguments.write_steps * step_seconds
    if RANK == 0:
        print("round,way,seconds,seconds_inside,memory_bytes,step_seconds,gradient")
    for turn in range(arguments.rounds + 1):  # the first one warms up
        for way in arguments.ways.split(","):
            seconds, inside, most, gradient = sweep(way, arguments, u, scratch)
            if RANK == 0:
                print(f"{turn},{way},{seconds:.4f},{inside:.4f},{most},{step_seconds:.5f},{gradient!r}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
