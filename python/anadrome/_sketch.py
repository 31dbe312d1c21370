# SPDX-License-Identifier: BSD-2-Clause
"""Gradients that are correlations in time, from a few arrays."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from . import _core
from ._arguments import count, counts
from ._errors import Error, Status

if TYPE_CHECKING:
    import numpy.typing as npt

_KINDS = ("count", "rows", "exact")
_TYPES = {np.dtype(np.float32): 0, np.dtype(np.float64): 1}


class Sketch:
    """The sum over t of x_t y_t at each point, from a few arrays in place of all x_t.

    Going forward, `push` adds x_t; going backward, `correlate` multiplies y_t with what the arrays
    have of x_t. The gradient has the right mean, and a variance that falls as one over the number
    of arrays. It is right only where y_t is known without x_t, as with steps that are linear in
    their state. Local: a rank gives its own part of the arrays. Threads of Python take turns; the
    GIL is released meanwhile.

    Parameters
    ----------
    shape : int or tuple of int
        Of x_t and y_t on this rank.
    arrays : int
        How many arrays hold all x_t; the same on all ranks.
    seed : int
        Of the random numbers; the same on all ranks.
    kind : str
        ``count``, or for comparison ``rows``, ``exact``: the members of ``anadrome_sketch_kind``.
    dtype
        ``float64`` or ``float32``.

    Raises
    ------
    Error
        ``ERR_ARGUMENT``: a size, a number of arrays, a kind or a type that a sketch cannot have.
        ``ERR_MEMORY``: too little memory in this machine.

    Examples
    --------
    >>> import anadrome, numpy as np
    >>> x, y = np.ones((500, 1000)), np.ones((500, 1000))
    >>> sketch = anadrome.Sketch(1000, arrays=50)
    >>> for t in range(500):
    ...     sketch.push(t, x[t])
    >>> for t in reversed(range(500)):
    ...     sketch.correlate(t, y[t])
    >>> error = sketch.gradient() - np.sum(x * y, axis=0)
    >>> bool(np.sum(error**2) < 4 * np.sum(sketch.variance())), sketch.nbytes
    (True, 424000)
    """

    def __init__(
        self,
        shape: Union[int, tuple[int, ...]],
        arrays: int,
        seed: int = 0,
        kind: str = "count",
        dtype: npt.DTypeLike = np.float64,
    ) -> None:
        self._shape = _shape_of(shape)
        self._dtype = np.dtype(dtype)
        many = count("arrays", arrays)
        described = _described(self._shape, kind, self._dtype)
        self._core = _core.Sketch(described[0], described[1], many, count("seed", seed),
                                  described[2])
        self._bytes = _core.Sketch.bytes(described[0], described[1], many, described[2])

    @property
    def nbytes(self) -> int:
        """The bytes of all its arrays."""
        return self._bytes

    @staticmethod
    def bytes_of(
        shape: Union[int, tuple[int, ...]],
        arrays: int,
        kind: str = "count",
        dtype: npt.DTypeLike = np.float64,
    ) -> int:
        """The bytes that such a sketch would take."""
        points, of_type, of_kind = _described(_shape_of(shape), kind, np.dtype(dtype))
        return _core.Sketch.bytes(points, of_type, count("arrays", arrays), of_kind)

    def push(self, step: int, x: object) -> None:
        """Add x_t of step ``step``, counted from 0: a C-contiguous array of the sketch's type and
        size, which is only read. All steps are pushed before any is correlated.

        Raises
        ------
        TypeError
            No such array.
        Error
            ``ERR_ARGUMENT``: another type or size, or a negative step. ``ERR_ORDER``: `correlate`
            was called.
        """
        self._core.push(count("step", step), x)

    def correlate(self, step: int, y: object) -> None:
        """Multiply y_t of step ``step`` with what the sketch has of x_t, and add it to the
        gradient.

        Raises
        ------
        TypeError
            No such array.
        Error
            ``ERR_ARGUMENT``: another type or size, or a negative step. ``ERR_ORDER``: nothing was
            pushed.
        """
        self._core.correlate(count("step", step), y)

    def gradient(self, out: Optional[npt.NDArray[Any]] = None) -> npt.NDArray[Any]:
        """The gradient of all that was correlated so far: in ``out``, or in a new array."""
        filled = np.empty(self._shape, self._dtype) if out is None else out
        self._core.gradient(filled)
        return filled

    def variance(
        self, out: Optional[npt.NDArray[np.float64]] = None
    ) -> npt.NDArray[np.float64]:
        """An estimate of the variance of each point's gradient, of float64: in ``out``, or in a new
        array. Its mean is the variance: single points may be negative.

        Raises
        ------
        Error
            ``ERR_UNSUPPORTED``: one array says nothing about its variance.
        """
        filled = np.empty(self._shape, np.float64) if out is None else out
        self._core.variance(filled)
        return filled


def _shape_of(shape: Union[int, Sequence[int]]) -> tuple[int, ...]:
    if isinstance(shape, Sequence):
        return tuple(counts("shape", shape))
    return (count("shape", shape),)


def _described(shape: tuple[int, ...], kind: str, dtype: np.dtype[Any]) -> tuple[int, int, int]:
    """Count, type and kind as C has them."""
    if kind not in _KINDS:
        raise Error(f"there is no kind of sketch '{kind}': {', '.join(_KINDS)}", Status.ERR_ARGUMENT)
    if dtype not in _TYPES:
        raise Error(f"sketches have float64 or float32, not {dtype}", Status.ERR_ARGUMENT)
    if min(shape, default=0) < 0:
        raise Error(f"a size is negative: {shape}", Status.ERR_ARGUMENT)
    return count("the product of shape", math.prod(shape)), _TYPES[dtype], _KINDS.index(kind)
