# SPDX-License-Identifier: BSD-2-Clause
"""Sketches in Python. On one rank; no MPI is needed."""
import numpy as np
import pytest

import anadrome
from anadrome import Error, Sketch, Status


def correlated(sketch, x, y):
    for t, values in enumerate(x):
        sketch.push(t, values)
    for t in reversed(range(len(y))):
        sketch.correlate(t, y[t])
    return sketch


@pytest.fixture
def fields():
    rng = np.random.default_rng(3)
    return rng.standard_normal((200, 4, 30)), rng.standard_normal((200, 4, 30))


@pytest.mark.parametrize("kind", ["count", "rows"])
def test_the_error_is_as_large_as_it_says(fields, kind):
    x, y = fields
    sketch = correlated(Sketch((4, 30), arrays=32, seed=7, kind=kind), x, y)
    error = sketch.gradient() - np.sum(x * y, axis=0)
    assert 0.5 < np.sum(error**2) / np.sum(sketch.variance()) < 2
    assert Sketch.bytes_of((4, 30), 32, kind) == sketch.nbytes


def test_bytes_are_known_beforehand():
    assert Sketch.bytes_of((10, 100), 128) == 2 * Sketch.bytes_of(1000, 128, "rows", np.float32) == 8 * 1000 * 131


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exact_sketches_of_both_types(fields, dtype):
    x, y = (field.astype(dtype) for field in fields)
    sketch = correlated(Sketch((4, 30), arrays=200, kind="exact", dtype=dtype), x, y)
    out, variance = np.empty((4, 30), dtype), np.ones((4, 30))
    assert sketch.gradient(out=out) is out and sketch.variance(out=variance) is variance
    assert out.dtype == dtype and np.allclose(out, np.sum(x * y, axis=0), atol=1e-3) and not variance.any()


def test_arrays_that_are_only_read_may_be_read_only(fields):
    sketch, frozen = Sketch(30, arrays=2, kind="exact"), fields[0][0, 0].copy()
    frozen.flags.writeable = False
    sketch.push(0, frozen)
    sketch.correlate(0, memoryview(frozen))
    assert np.array_equal(sketch.gradient(), frozen**2)


def test_mistakes_are_named():
    sketch = Sketch(4, arrays=1)
    for call, words, status in (
            (lambda: Sketch(4, arrays=0), "at least one array", Status.ERR_ARGUMENT),
            (lambda: Sketch((-2, -4), arrays=1), r"negative: \(-2, -4\)", Status.ERR_ARGUMENT),
            (lambda: Sketch(4, arrays=1, kind="cout"), "no kind of sketch 'cout'", Status.ERR_ARGUMENT),
            (lambda: Sketch(4, arrays=1, dtype=np.int64), "float64 or float32, not int64", Status.ERR_ARGUMENT),
            (lambda: sketch.push(0, np.ones(3)), "array 'x' has 3 elements, the sketch 4 points", Status.ERR_ARGUMENT),
            (lambda: sketch.push(0, np.ones(4, np.float32)), "array 'x' is not of float64", Status.ERR_ARGUMENT),
            (lambda: sketch.push(-1, np.ones(4)), "no step -1", Status.ERR_ARGUMENT),
            (lambda: sketch.correlate(0, np.ones(4)), "before any step", Status.ERR_ORDER),
            (lambda: sketch.variance(), "one array", Status.ERR_UNSUPPORTED),
            (lambda: sketch.variance(np.ones(4, np.float32)), "array 'out' is not of float64", Status.ERR_ARGUMENT)):
        with pytest.raises(Error, match=words) as raised:
            call()
        assert raised.value.status == status
    with pytest.raises(ValueError, match="product of shape must be below"):
        Sketch((2**40, 2**40), arrays=1)
    for call, words in ((lambda: sketch.push(0, np.ones((4, 2))[:, 0]), "array 'x': the array is not C-contiguous"),
                        (lambda: sketch.gradient(b"1234"), "array 'out': the array is read-only; anadrome writes the result"),
                        (lambda: sketch.push(0, 3), "array 'x': an object of type int has no memory")):
        with pytest.raises(TypeError, match=words):
            call()
    assert not sketch.gradient().any()
    assert anadrome.Sketch is Sketch
