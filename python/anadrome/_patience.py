# SPDX-License-Identifier: BSD-2-Clause
"""What is said of a rank that waits for the others with an exception."""
from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

_SECONDS = 10.0


@contextlib.contextmanager
def waiting_for_others(rank: int, ranks: int, why: str, where: str) -> Iterator[None]:
    """Says so on standard error, if it takes long: others may wait for a message of this rank."""
    notice = threading.Timer(_SECONDS, _say, (rank, why, where))
    notice.daemon = True
    if ranks > 1:
        notice.start()
    try:
        yield
    finally:
        notice.cancel()


def _say(rank: int, why: str, where: str) -> None:
    print(f"anadrome: rank {rank} failed ({why}) and waits for the other ranks {where}. Ranks that "
          "wait for a message of this one wait in vain: end the job", file=sys.stderr, flush=True)
