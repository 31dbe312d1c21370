# SPDX-License-Identifier: BSD-2-Clause
"""A function of Firedrake's, as far as its adjoint keeps and restores it."""
import contextlib
import itertools

import numpy as np

from .adjoint_utils.function import FunctionMixin

_count = itertools.count()


class _Vector:
    def __init__(self, values):
        self._values = values

    def getArray(self, readonly=False):
        return self._values


class _Data:
    def __init__(self, size):
        self.values = np.zeros(size)

    @property
    @contextlib.contextmanager
    def vec_ro(self):
        read_only = self.values.view()
        read_only.flags.writeable = False
        yield _Vector(read_only)

    @property
    @contextlib.contextmanager
    def vec_wo(self):
        self.values[:] = np.nan  # what was there may not be relied upon
        yield _Vector(self.values)


class Function(FunctionMixin):
    def __init__(self, space, name=None, count=None):
        super().__init__()
        self._space, self._name = space, name
        self._count = next(_count) if count is None else count
        self.dat = _Data(space)

    def function_space(self):
        return self._space

    def name(self):
        return self._name

    def count(self):
        return self._count

    def copy(self):
        other = Function(self._space, self._name)
        other.dat.values[:] = self.dat.values
        return other

    @property
    def values(self):
        return self.dat.values
