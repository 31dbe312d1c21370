# SPDX-License-Identifier: BSD-2-Clause
"""The object store in Python, on ranks that hold different objects."""
import gc
import hashlib
import random
import subprocess
import threading
import tracemalloc
from decimal import Decimal
from fractions import Fraction

import h5py
import numpy as np
import pytest

import anadrome
from anadrome import Error, Status


@pytest.fixture
def store(comm, directory):
    with anadrome.Store(comm, memory="1MiB", directory=directory) as opened:
        yield opened


def some(rng):
    """An object of one array, or of several."""
    kinds = [np.float64, np.float32, np.complex128, np.int64, np.uint8]
    def array():
        return (rng.random(rng.choice([0, 1, 7, 3000, 12000])) * 100).astype(rng.choice(kinds))
    return array() if rng.random() < 0.7 else {name: array() for name in ("u", "v", "mesh")[:rng.integers(1, 4)]}


def equal(a, b):
    if isinstance(a, dict):
        return list(a) == list(b) and all(equal(a[name], b[name]) for name in a)
    return a.dtype == b.dtype and np.array_equal(a, b)


def test_a_store_is_a_dictionary(comm, store):
    rng, expected = np.random.default_rng(comm.rank), {}
    keys = [*range(-20, 20), *((k, "u") for k in range(20)), "end", 2.5]
    for _ in range(600):
        key = keys[rng.integers(len(keys))]
        match rng.integers(4):
            case 0 | 1:
                store[key] = expected[key] = some(rng)
            case 2 if key in expected:
                assert equal(store[key], expected[key])
            case 3 if key in expected:
                del store[key]
                del expected[key]
            case _:
                assert (key in store) == (key in expected)
    assert set(store) == set(expected) and len(store) == len(expected)
    store.sync()
    for key, value in expected.items():
        assert equal(store[key], value)
    assert store.statistics().bytes_read > 0
    assert store.statistics().objects == len(expected)


def test_arrays_of_the_caller_are_filled_and_keep_their_shapes(store):
    u = np.arange(12.0).reshape(3, 4)
    store[1, "u"] = u
    store["all"] = {"u": u, "flag": np.array([True])}
    out = np.empty((3, 4))
    store.get((1, "u"), out=out)
    assert (out == u).all() and store[1, "u"].shape == (3, 4)
    store.get("all", out={"u": out[:]})
    assert store["all"]["flag"].dtype == bool
    for text in (b"abc", b"", bytearray(b"ab")):
        store["text"] = text
        assert store["text"].dtype == np.uint8 and bytes(store["text"]) == text
    store["read-only"] = np.broadcast_to(u, (3, 4))  # a copy is made, so that may be


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i4", "i8", "i1", "u1"])
def test_what_offers_dlpack_alone_is_put_and_got(store, dtype):
    class ByDlpack:
        def __init__(self, array):
            self.array = array

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

        def __dlpack__(self, **words):
            return self.array.__dlpack__()

    u = np.arange(6).reshape(2, 3).astype(dtype)
    store["u"], out = ByDlpack(u), np.empty_like(u)
    store.get("u", out=ByDlpack(out))
    assert equal(store["u"], u) and equal(out, u)


@pytest.mark.parametrize("array, words", [(np.arange(10.0)[::2], "part 'values': the array is not C-contiguous"),
                                          (np.arange(3, dtype=np.float16), "elements of type float16"),
                                          (np.ma.masked_less(np.arange(5.0), 2), "a MaskedArray would lose its mask"),
                                          ([1, 2], "of type list has no memory"), (None, "NoneType")])
def test_what_is_no_array_is_refused(store, array, words):
    store[1] = np.ones(3)
    with pytest.raises(TypeError, match=words):
        store[1] = array
    assert (store[1] == 1).all()


def test_mistakes_are_errors(store):
    store[1] = np.ones(3)
    with pytest.raises(KeyError):
        store[2]
    with pytest.raises(KeyError):
        del store[2]
    with pytest.raises(Error, match="has 3 elements of type float64, not 4 of type float64") as raised:
        store.get(1, out=np.empty(4))
    assert raised.value.status == Status.ERR_ARGUMENT
    locked = np.ones(3)
    locked.flags.writeable = False
    with pytest.raises(TypeError, match="read-only"):
        store.get(1, out=locked)
    with pytest.raises(TypeError, match="names of parts must be str"):
        store[3] = {1: np.ones(3)}
    for key, text in ((3, "object 3 has 1.53 MiB"), ((7, "u"), r"object \(7, 'u'\) ")):
        with pytest.raises(anadrome.OutOfMemoryError, match=text) as raised:
            store[key] = np.ones(200000)
        assert isinstance(raised.value, MemoryError) and raised.value.status == Status.ERR_MEMORY and key not in store
    with pytest.raises(Error, match="not below"):
        store[2**62] = np.ones(1)
    assert list(store) == [1]


def test_an_option_that_is_wrong_on_one_rank_is_refused_on_all(comm, directory):
    own = directory if comm.rank < comm.size - 1 else ""
    with pytest.raises(Error, match="is empty" if own == "" else "no_option"):
        anadrome.Store(comm, memory="1MiB", directory=own)


@pytest.mark.parametrize("key", [3.0, Fraction(3), Decimal(3), 3 + 0j, np.float32(3)])
def test_keys_that_are_equal_name_one_object(store, key):
    store[3] = np.full(4, 1.0)
    store[key] = np.full(4, 2.0)
    assert list(store) == [3] and store[3][0] == store[key][0] == 2
    store[3.5], store["3"] = np.full(4, 3.5), np.full(4, -3.0)
    assert store[3][0] == 2 and store[3.5][0] == 3.5 and store["3"][0] == -3
    del store[key]
    assert 3 not in store and len(store) == 2


def test_finalizers_of_any_thread_drop_at_the_next_call(comm, directory):
    class Ticket:
        def __init__(self, store, key):
            self.store, self.key = store, key

        def __del__(self):
            self.store.drop_later(self.key)

    store = anadrome.Store(comm, memory="1MiB", directory=directory)
    tickets = []
    for k in range(50):
        store[k] = np.ones(5000)
        tickets.append(Ticket(store, k))
    late = tickets.pop()
    thread = threading.Thread(target=tickets.clear)
    thread.start()
    thread.join()
    gc.collect()
    store.sync()
    assert list(store) == [49]
    store.close()
    del late
    store.close()
    assert store.closed
    with pytest.raises(Error, match="no store"):
        store[1] = np.ones(1)


def test_a_drop_that_is_due_takes_no_object_that_another_thread_puts(store):
    class Slow:
        def __init__(self, core):
            self.core = core

        def __getattr__(self, name):
            return getattr(self.core, name)

        def drop(self, number):
            other.start()
            other.join(0.2)  # as long as a put may take that does not wait for its turn
            self.core.drop(number)

    store["u"] = np.ones(3)
    store.drop_later("u")
    other = threading.Thread(target=store.put, args=("u", np.full(3, 2.0)))
    store._core = Slow(store._core)
    store.sync()
    other.join()
    assert (store["u"] == 2).all()


def test_other_threads_run_while_a_call_waits(comm, directory):
    with anadrome.Store(comm, memory="1MiB", directory=directory, bandwidth_limit="2MB/s") as store:
        ticks, done, bulk = 0, False, bytes(1 << 18)

        def count():
            nonlocal ticks
            while not done:
                ticks += 1
                hashlib.sha256(bulk)  # its work, without the GIL
        thread = threading.Thread(target=count)
        thread.start()
        for k in range(12):
            store[k] = np.ones(16000)
        store.sync()
        done = True
        thread.join()
        waited = store.statistics().seconds_stalled_write
        assert waited > 0.1 and ticks > 50


def test_threads_take_turns(store):
    def work(first):
        rng = random.Random(first)
        for _ in range(100):
            key = first + rng.randrange(10)
            store[key] = np.full(2000, float(key))
            assert (store[key] == key).all()
    threads = [threading.Thread(target=work, args=(100 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((store[key] == key).all() for key in store)


def test_an_exception_on_one_rank_closes_the_store_on_all(comm, directory):
    def body():
        with anadrome.Store(comm, memory="1MiB", directory=directory) as store:
            store[comm.rank] = np.ones(10)
            if comm.rank == comm.size - 1:
                raise RuntimeError("the mesh is gone")
    if comm.rank == comm.size - 1:
        with pytest.raises(RuntimeError, match="the mesh is gone"):
            body()
    else:
        body()
    with anadrome.Store(comm, memory="1MiB", directory=directory) as again:  # nobody holds the directory
        assert len(again) == 0


def test_what_is_kept_is_read_by_h5py_and_sound_to_the_command(comm, directory):
    with anadrome.Store(comm, memory="1MiB", directory=directory, keep=True) as store:
        for k in range(30):
            store[k] = {"u": np.full(9000, k + 0.5), "mesh": np.arange(k, dtype=np.int32)}
    path = directory / "anadrome-store"
    with h5py.File(path / f"objects-rank-{comm.rank:06}.h5") as kept:
        assert len(kept) == 30 and (kept["7/u"][:] == 7.5).all() and kept["7/mesh"].dtype == np.int32
    if comm.rank == 0:
        for command in ("inspect", "verify"):
            done = subprocess.run(["anadrome", command, path], capture_output=True, text=True, timeout=60)
            assert done.returncode == 0, done.stdout + done.stderr
            assert f"{comm.size} ranks" in done.stdout and "a store's 30 objects" in done.stdout
    comm.Barrier()


def test_a_store_that_is_forgotten_says_so(comm, directory):
    store = anadrome.Store(comm, memory="1MiB", directory=directory, name="forgotten")
    with pytest.warns(ResourceWarning, match="was not closed"):
        store.__del__()
    store.close()


def test_nothing_leaks(comm):
    def once():
        with anadrome.Store(comm, memory="256KiB", disk=0) as store:
            for k in range(20):
                store[k, "u"] = np.ones(10)
                assert store[k, "u"].sum() == 10
                del store[k, "u"]
    once()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(50):
        once()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 20000



def test_objects_so_small_that_their_list_takes_the_memory_are_named(comm, directory):
    with anadrome.Store(comm, memory="512KiB", directory=directory) as store:
        words = r"the list of \d+ objects takes all of memory=\d+ KiB \(about \d+ bytes each\): raise memory, or put larger"
        with pytest.raises(anadrome.OutOfMemoryError, match=words):
            for k in range(20000):
                store[k] = np.zeros(3)
