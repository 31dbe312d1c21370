# SPDX-License-Identifier: BSD-2-Clause
"""Ctrl-C during a sweep: it stops where all ranks agree, and KeyboardInterrupt comes then."""
from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Optional


class Interrupt:
    """The handler of SIGINT while a sweep is under way; a second Ctrl-C interrupts at once.

    It takes the place of Python's own handler only: a program with a handler of its own keeps it.
    """

    def __init__(self, request_stop: Callable[[], None]) -> None:
        self._request_stop = request_stop
        self._installed = False
        self.came = False

    def watch(self) -> None:
        """Begin, in the main thread; elsewhere signals do not arrive."""
        self.came = False
        if self._installed or threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._handle)
            self._installed = True

    def end(self) -> None:
        """Give Python its handler back; not if somebody else took the place meanwhile."""
        if not self._installed or threading.current_thread() is not threading.main_thread():
            return
        self._installed = False
        if signal.getsignal(signal.SIGINT) == self._handle:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _handle(self, number: int, frame: Optional[FrameType]) -> None:
        if self.came:
            raise KeyboardInterrupt
        self.came = True
        self._request_stop()
