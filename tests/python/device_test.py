# SPDX-License-Identifier: BSD-2-Clause
"""Arrays on a device, by DLPack: of the fake device, whose library is loaded as a driver is, and torch's on the host."""
import ctypes
import os

import anadrome
import numpy as np
import pytest
import torch

FAKE = ctypes.CDLL(os.environ["ANADROME_TEST_FAKE_CUDA"], mode=ctypes.RTLD_GLOBAL)
for name in ("fake_make_context", "fake_make_stream", "fake_allocate"):
    getattr(FAKE, name).restype = ctypes.c_void_p
POINTER, SIZE, REAL = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_double
FAKE.fake_logistic.argtypes = [POINTER, POINTER, SIZE, REAL, REAL]
FAKE.fake_adjoint_logistic.argtypes = [POINTER, POINTER, POINTER, SIZE, REAL]
FAKE.fake_get.argtypes = FAKE.fake_put.argtypes = [POINTER, POINTER, POINTER, SIZE]
FAKE.fake_allocate.argtypes, FAKE.fake_release.argtypes, FAKE.fake_seed.argtypes = [SIZE], [POINTER], [ctypes.c_uint64]
FAKE.fake_make_context()
CUDA, HOST = 2, 1


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", POINTER), ("device", Device), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64)]


DELETER = ctypes.CFUNCTYPE(None, POINTER)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", POINTER), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", POINTER), ("deleter", DELETER),
                ("flags", ctypes.c_uint64), ("tensor", Tensor)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [POINTER, ctypes.c_char_p, POINTER]


class Array:
    """As torch and cupy have them, on the fake device."""

    def __init__(self, values, versioned=True, read_only=False, strides=None, code=2, major=1):
        self.here = np.array(values, dtype=float)
        self.versioned, self.read_only, self.code, self.major = versioned, read_only, code, major
        self.memory = FAKE.fake_allocate(max(self.here.nbytes, 1))
        self.put(self.here)
        self.shape = (ctypes.c_int64 * self.here.ndim)(*self.here.shape)
        self.strides = None if strides is None else (ctypes.c_int64 * len(strides))(*strides)
        self.asked, self.exported, self.deleted = [], [], 0

    def put(self, values):
        FAKE.fake_put(None, self.memory, values.ctypes.data, values.nbytes)

    def get(self, stream=None):
        FAKE.fake_get(stream, self.here.ctypes.data, self.memory, self.here.nbytes)
        return self.here.copy()

    def __dlpack_device__(self):
        return CUDA, 0

    def __dlpack__(self, **words):
        if not self.versioned and "max_version" in words:
            raise TypeError("unexpected keyword max_version")
        self.asked.append(words["stream"])
        tensor = Tensor(self.memory, Device(CUDA, 0), self.here.ndim, self.code, 64, 1, self.shape, self.strides, 0)

        def delete(_):
            self.deleted += 1
        deleter = DELETER(delete)
        made = (Versioned(self.major, 0, None, deleter, 1 if self.read_only else 0, tensor) if self.versioned
                else Managed(tensor, None, deleter))
        self.exported.append((made, deleter))
        return new_capsule(ctypes.addressof(made), b"dltensor_versioned" if self.versioned else b"dltensor", None)


def gradient(n, steps):
    u, states = np.linspace(0.1, 0.9, n), []
    for k in range(steps):
        states.append(u)
        u = 3.5 * u * (1 - u) + 0.01 * k
    a = u.copy()
    for u in reversed(states):
        a = 3.5 * (1 - 2 * u) * a
    return a


@pytest.mark.parametrize("versioned", [True, False])
@pytest.mark.parametrize("options", [{"schedule": "revolve", "device_memory": "1MiB"}, {"schedule": "revolve", "checkpoints": 3},
                                     {"schedule": "async", "interval": 3, "device_memory": "1MiB"}])
def test_a_gradient_on_the_device(versioned, options, tmp_path):
    n, steps, stream = 5000, 20, FAKE.fake_make_stream()
    for seed in range(3):
        FAKE.fake_seed(seed)
        u, a = Array(np.linspace(0.1, 0.9, n), versioned), Array(np.zeros(n), versioned)
        with anadrome.Run(anadrome_comm(), memory="2MiB", directory=tmp_path, **options) as run:
            run.on_stream(stream)
            run.state(u=u)
            run.adjoint(a=a)
            assert u.asked == [stream]
            for action in run.sweep(steps):
                match action:
                    case anadrome.Advance(first, last):
                        for k in range(first, last):
                            FAKE.fake_logistic(stream, u.memory, n, 3.5, 0.01 * k)
                    case anadrome.Turn():
                        a.put(u.get(stream))
                    case anadrome.Adjoint(k):
                        FAKE.fake_adjoint_logistic(stream, a.memory, u.memory, n, 3.5)
        assert np.array_equal(a.get(stream), gradient(n, steps))
        assert u.deleted == a.deleted == 1  # what the run was lent, it gave back


def anadrome_comm():
    from mpi4py import MPI
    return MPI.COMM_SELF


def test_streams_are_numbered_as_the_standard_says():
    for stream, number in ((None, 1), (0, 1), (1, 1), (FAKE.fake_make_stream(),) * 2):
        u = Array([1.0, 2.0])
        with anadrome.Run(anadrome_comm()) as run:
            run.on_stream(stream)
            run.state(u=u)
        assert u.asked == [number]


@pytest.mark.parametrize("words, why", [({"read_only": True}, "read-only"), ({"strides": (2,)}, "C-contiguous"), ({"code": 4}, "none that fields have"),
                                        ({"major": 2}, "version")])
def test_what_cannot_be_a_field(words, why):
    u = Array([1.0, 2.0], **words)
    with anadrome.Run(anadrome_comm()) as run:
        with pytest.raises(TypeError, match=why):
            run.state(u=u)
    assert u.deleted == 1


def test_steps_that_return_new_arrays(tmp_path):
    """As JAX has them: what a step returns is copied to the array that was registered."""
    n, steps, stream = 5000, 9, FAKE.fake_make_stream()
    u, a = Array(np.linspace(0.1, 0.9, n)), Array(np.zeros(n))

    def step(x, k):  # reads x, and returns another array
        new = Array(x.get(stream))
        FAKE.fake_logistic(stream, new.memory, n, 3.5, 0.01 * k)
        return new
    with anadrome.Run(anadrome_comm(), memory="1MiB", device_memory="200KiB", schedule="revolve", directory=tmp_path) as run:
        run.on_stream(stream)
        run.state(u=u)
        run.adjoint(a=a)
        for action in run.sweep(steps):
            match action:
                case anadrome.Advance(first, last):
                    x = u
                    for k in range(first, last):
                        x = step(x, k)
                    u.put(x.get(stream))
                case anadrome.Turn():
                    a.put(u.get(stream))
                case anadrome.Adjoint(k):
                    FAKE.fake_adjoint_logistic(stream, a.memory, u.memory, n, 3.5)
    assert np.array_equal(a.get(stream), gradient(n, steps))


def test_tensors_of_torch_on_the_host():
    u, a = torch.linspace(0.1, 0.9, 7, dtype=torch.float64), torch.zeros(7, dtype=torch.float64)
    with anadrome.Run(anadrome_comm(), memory="1MiB", schedule="revolve", checkpoints=2) as run:
        run.state(u=u)
        run.adjoint(a=a)
        for action in run.sweep(11):
            match action:
                case anadrome.Advance(first, last):
                    for k in range(first, last):
                        u[:] = 3.5 * u * (1 - u) + 0.01 * k
                case anadrome.Turn():
                    a[:] = u
                case anadrome.Adjoint(k):
                    a[:] = 3.5 * (1 - 2 * u) * a
    states = [torch.linspace(0.1, 0.9, 7, dtype=torch.float64)]
    for k in range(11):
        states.append(3.5 * states[-1] * (1 - states[-1]) + 0.01 * k)
    expected = states[-1]
    for x in reversed(states[:-1]):
        expected = 3.5 * (1 - 2 * x) * expected
    assert torch.equal(a, expected)
