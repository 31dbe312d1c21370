# SPDX-License-Identifier: BSD-2-Clause
"""Objects by key, for loops that others own."""
from __future__ import annotations

import collections
import contextlib
import dataclasses
import numbers
import os
import threading
import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import _core
from ._errors import Error, Status, describe
from ._patience import waiting_for_others
from ._ranks import ranks_of
from ._settings import Setting, text_of

if TYPE_CHECKING:
    from mpi4py import MPI

_Form = tuple["np.dtype[Any]", tuple[int, ...]]

_ALONE = "values"  # the name of the part of an object that is one array
_FIRST_NUMBER = 2**62  # integers below it stand for themselves


@dataclasses.dataclass(frozen=True, slots=True)
class StoreStatistics:
    """What `Store.statistics` returns: sizes in bytes, times in seconds, of this rank. The members
    are those of ``anadrome_store_stats``."""

    objects: int
    """That are in the store."""
    bytes: int
    """Of these, without padding."""
    memory_bytes: int
    """Most memory in use so far: blocks and the list of the objects."""
    block_bytes: int
    """What is moved at once."""
    bytes_written: int
    """To disk, whole blocks."""
    bytes_read: int
    """From disk, whole blocks."""
    seconds_writing: float
    """In writes, beside the caller."""
    seconds_reading: float
    """In reads, beside the caller."""
    seconds_stalled_write: float
    """That calls waited for writes to end."""
    seconds_stalled_read: float
    """That calls waited for reads to end."""
    direct_io: int
    """1: O_DIRECT; 0: buffered; -1: nothing went to disk so far."""


class Store:
    """Objects that are put, got and dropped by key, for loops that others own.

    The store keeps them within a memory in bytes, writes what is needed last to disk beside the
    caller, and reads ahead what is needed next. What is got is bitwise what was put, or an `Error`.
    An object is one array, or a mapping of names to arrays. Opening and closing are collective;
    between them every call is local, and ranks may hold different objects. Use it in a ``with``
    block, which closes it. Threads of Python take turns; the GIL is released meanwhile.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, optional
        Its ranks; ``MPI.COMM_WORLD`` by default, and this process in a build without MPI. It is
        duplicated, and may be freed afterwards.
    **options
        ``memory``, ``directory``, ``name``, ``disk``, ``keep``, ``transport`` and
        ``bandwidth_limit``, as ``anadrome_store_open`` takes them. A value is a text
        (``memory="8GiB"``), a number, a truth value (``keep=True`` is ``on``) or a path.

    Raises
    ------
    Error
        On all ranks: ``ERR_ARGUMENT`` (an option that does not exist, a bad value, values that
        differ between ranks), ``ERR_MEMORY`` (less than 256KiB), ``ERR_IO``, ``ERR_NO_SPACE``,
        ``ERR_BUSY``.

    Examples
    --------
    >>> import anadrome, numpy as np
    >>> from mpi4py import MPI
    >>> u = np.zeros(50000)
    >>> with anadrome.Store(MPI.COMM_SELF, memory="1MiB") as store:
    ...     for k in range(20):
    ...         store[k] = u
    ...         u += 1
    ...     store[20, "end"] = {"u": u[:3], "k": np.array([20])}
    ...     for k in reversed(range(20)):
    ...         store.get(k, out=u)
    ...         del store[k]
    ...     print(u[0], store[20, "end"], store.statistics().bytes_read > 0)
    0.0 {'u': array([20., 20., 20.]), 'k': array([20])} True
    """

    def __init__(self, comm: Optional[MPI.Comm] = None, **options: Setting) -> None:
        words: list[str] = []
        bad: Optional[Exception] = None
        for key, value in options.items():
            try:
                text = text_of(value)
            except Exception as error:
                bad = bad or error
                continue
            if not text or any(letter.isspace() for letter in text):
                bad = bad or Error(f"option {key}: '{text}' is empty or has blanks in it", Status.ERR_ARGUMENT)
            words.append(f"{key}={text}")
        self._forms: dict[Hashable, dict[str, _Form]] = {}
        self._numbers: dict[Hashable, int] = {}  # of keys that are no integers
        self._newest = _FIRST_NUMBER
        self._later: collections.deque[Hashable] = collections.deque()
        self._turn, self._process = threading.RLock(), os.getpid()
        ranks = ranks_of(comm)
        self._rank, self._ranks = ranks.Get_rank(), ranks.Get_size()
        if bad is not None:  # the others open theirs: an option that there is not ends that on all
            with contextlib.suppress(Error):
                _core.Store(ranks, "no_option=")
            raise bad
        self._core = _core.Store(ranks, " ".join(words))

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        value: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if value is None:
            return self.close()
        waiting = waiting_for_others(self._rank, self._ranks, describe(value), "in Store.close")
        with contextlib.suppress(Exception), waiting:  # the exception goes on from here
            self.close()

    def __del__(self) -> None:
        if hasattr(self, "_core") and not self.closed:
            # Closing is collective, and this may be any thread at any time.
            warnings.warn(f"{self!r} was not closed; use `with`", ResourceWarning, source=self)

    def __repr__(self) -> str:
        return f"<anadrome.Store {'closed' if self.closed else 'open'}, {len(self._forms)} objects>"

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._core.closed

    # ---- objects ----

    def put(self, key: Hashable, value: object) -> None:
        """The same as ``store[key] = value``: the arrays are copied, and replace what was there.

        Parameters
        ----------
        key
            Anything hashable; integers are below ``2**62`` in size.
        value
            An array, or a mapping of names to arrays: objects with the buffer protocol,
            C-contiguous, of float32, float64, complex64, complex128, int32, int64 or bytes.

        Raises
        ------
        TypeError
            The array is none, or not contiguous, or of another type: the part is named.
        Error
            ``ERR_MEMORY``: it is larger than the memory. ``ERR_NO_SPACE``, ``ERR_IO``: memory and
            disk are full, or what is in memory cannot be written; nothing has changed.
        """
        arrays = dict(value) if isinstance(value, Mapping) else {_ALONE: value}
        with self._alone():
            self._drop_due()
            with self._named(key):
                known = self._core.put(self._number(key), arrays)
            self._forms[key] = {name: _form_of(array, known[name]) for name, array in arrays.items()}

    def get(self, key: Hashable, out: object) -> None:
        """An object into arrays of the caller, without others being made.

        Parameters
        ----------
        key
            Of an object that is in the store.
        out
            An array, or a mapping of names to arrays, of some parts or all: writable, and of the
            type and size of what was put.

        Raises
        ------
        KeyError
            There is no such object.
        TypeError
            An array cannot be written to, or is not contiguous.
        Error
            ``ERR_ARGUMENT``: another type or size. ``ERR_CORRUPT``, ``ERR_IO``: the object cannot be
            read. The others stay.
        """
        arrays = dict(out) if isinstance(out, Mapping) else {_ALONE: out}
        with self._alone():
            self._drop_due()
            self._forms[key]
            with self._named(key):
                self._core.get(self._number(key), arrays)

    def __setitem__(self, key: Hashable, value: object) -> None:
        self.put(key, value)

    def __getitem__(self, key: Hashable) -> Any:
        """New arrays, of the shapes that were put: one, or a dictionary of them."""
        with self._alone():
            made = {name: np.empty(shape, dtype) for name, (dtype, shape) in self._forms[key].items()}
            self.get(key, made)
        return made[_ALONE] if list(made) == [_ALONE] else made

    def __delitem__(self, key: Hashable) -> None:
        with self._alone():
            self._drop_due()
            del self._forms[key]
            self._core.drop(self._number(key))
            self._numbers.pop(key, None)

    def drop_later(self, key: Hashable) -> None:
        """Drop the object at the next call, if it is still there. Any thread may call this at any
        time, also after `close`: it is what finalizers call."""
        self._later.append(key)

    def __contains__(self, key: object) -> bool:
        return key in self._forms

    def __len__(self) -> int:
        return len(self._forms)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(list(self._forms))

    def expect(self, keys: Iterable[Hashable]) -> None:
        """Say in which order objects will be got; it is advice, and no promise.

        Parameters
        ----------
        keys
            The next one first. Keys may be put later, and may come several times. An earlier list
            is forgotten.
        """
        with self._alone():
            self._drop_due()
            self._core.expect([self._number(key) for key in keys])

    # ---- the whole ----

    def sync(self) -> None:
        """Wait until all that was put is on disk. Local."""
        with self._alone():
            self._drop_due()
            self._core.sync()

    def statistics(self) -> StoreStatistics:
        """Measured numbers of this rank. Local."""
        return StoreStatistics(**self._core.statistics())

    def close(self) -> None:
        """Close the store and remove its files. Collective. Nothing to do if it is closed."""
        with self._alone():
            try:
                self._core.close()
            finally:
                self._forms.clear()
                self._numbers.clear()

    def _alone(self) -> contextlib.AbstractContextManager[Any]:
        """One thread at a time, so that keys and objects change together. In a child of fork the turn
        may be a thread's that is not there; the call is refused."""
        if os.getpid() == self._process:
            return self._turn
        return contextlib.nullcontext()

    def _drop_due(self) -> None:
        while self._later:
            key = self._later.popleft()
            if self._forms.pop(key, None) is not None:
                self._core.drop(self._number(key))
                self._numbers.pop(key, None)

    @contextlib.contextmanager
    def _named(self, key: Hashable) -> Iterator[None]:
        """Errors name the key, not its number."""
        try:
            yield
        except Error as error:
            number = self._numbers.get(key)
            if number is None:
                raise
            text = str(error).replace(f"object {number}", f"object {key!r}")
            raise type(error)(text, error.status) from None

    def _number(self, key: Hashable) -> int:
        integer = _integer(key)
        if integer is not None:
            if not -_FIRST_NUMBER < integer < _FIRST_NUMBER:
                raise Error(f"the key {key} is not below 2**62 in size", Status.ERR_ARGUMENT)
            return integer
        number = self._numbers.get(key)
        if number is None:
            self._newest += 1
            number = self._numbers[key] = self._newest
        return number


def _integer(key: Any) -> Optional[int]:
    """The integer that is the same key of a dictionary, as 3 is of 3.0; None: there is none."""
    real = getattr(key, "real", None) if isinstance(key, numbers.Number) else None
    try:
        integer = None if real is None else int(real)
    except (ValueError, OverflowError):  # nan, inf
        return None
    return integer if integer == key else None


def _form_of(array: object, known: Optional[tuple[str, tuple[int, ...]]]) -> _Form:
    if known is not None:  # an object of which numpy may know nothing
        letters, shape = known
        return np.dtype({"Zf": "F", "Zd": "D"}.get(letters, letters)), shape
    as_numpy = np.asarray(memoryview(array) if isinstance(array, bytes) else array)  # no text
    return as_numpy.dtype, as_numpy.shape
