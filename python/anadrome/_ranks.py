# SPDX-License-Identifier: BSD-2-Clause
"""The ranks of a run or a store."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from . import _core

if TYPE_CHECKING:
    import numpy as np
    from mpi4py import MPI


class OneProcess:
    """What a build without MPI has for a communicator: as much of mpi4py's as this package calls."""

    def Get_rank(self) -> int:
        return 0

    def Get_size(self) -> int:
        return 1

    def allreduce(self, value: Any) -> Any:
        return value

    def allgather(self, value: Any) -> list[Any]:
        return [value]

    def Allreduce(self, mine: np.ndarray[Any, Any], total: np.ndarray[Any, Any]) -> None:
        total[...] = mine


def ranks_of(comm: Optional[MPI.Comm]) -> MPI.Comm | OneProcess:
    """``comm``; all ranks if it is None, which is this process in a build without MPI."""
    if comm is not None:
        return comm
    if not _core.has_mpi:
        return OneProcess()
    from mpi4py import MPI
    return MPI.COMM_WORLD
