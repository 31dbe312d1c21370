# SPDX-License-Identifier: BSD-2-Clause
"""pytest on several ranks: all run the same tests in the same order. Where one of them fails, the others may wait for it: the job
is ended, with what failed."""
import os
import tempfile
from pathlib import Path

import pytest
from mpi4py import MPI

COMM = MPI.COMM_WORLD


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    if report.failed and COMM.size > 1:
        os.write(2, f"rank {COMM.rank}: {report.nodeid}\n{report.longreprtext}\n{report.sections}\n".encode())
        COMM.Abort(1)


@pytest.fixture
def comm():
    return COMM


@pytest.fixture
def directory():
    """One for all ranks, which are on this machine."""
    with tempfile.TemporaryDirectory(prefix="anadrome-python-") as own:
        yield Path(COMM.bcast(own))
        COMM.Barrier()


@pytest.fixture
def without_mpirun(monkeypatch):
    """A process that is started then is none of this job's ranks."""
    for name in list(os.environ):
        if name.startswith(("OMPI_", "PMIX_", "ORTE_")) and not name.startswith("OMPI_ALLOW"):
            monkeypatch.delenv(name)
