# SPDX-License-Identifier: BSD-2-Clause
"""The lines of the library, for Python's logging."""
from __future__ import annotations

import atexit
import logging
from collections.abc import Callable
from typing import Optional, Union

from . import _core
from ._arguments import function
from ._errors import in_python

_LEVELS = (logging.INFO, logging.INFO, logging.WARNING)  # anadrome_log_level


def set_log(log: Optional[Union[logging.Logger, Callable[[int, str], object]]]) -> None:
    """Give the lines of all runs and stores of this process to a logger, or to a function. Local.

    Change it while no run and no store is open. Lines are said by rank 0, those of the option
    ``watchdog`` by any rank, and perhaps in a thread of the library.

    Parameters
    ----------
    log : logging.Logger or callable or None
        A logger, or ``log(level, line)`` with the levels of `logging`: ``INFO`` for progress and
        for what a run does, ``WARNING`` for what did not go as planned. None: lines go to standard
        error, as from the start.

    Examples
    --------
    >>> import anadrome, logging
    >>> anadrome.set_log(logging.getLogger("anadrome"))
    >>> anadrome.set_log(None)
    """
    if log is None:
        _core.set_log(None)
        return
    call = log.log if isinstance(log, logging.Logger) else function("log", log)
    _core.set_log(lambda level, line: call(_LEVELS[level], in_python(line)))


atexit.register(_core.set_log, None)
