# SPDX-License-Identifier: BSD-2-Clause
"""The summary that the library writes at the end of a sweep, for Python to show."""
from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Optional

from ._statistics import Summary


class Report:
    """Gives the option ``report`` a file of its own on rank 0, unless the user names one.

    A report to standard output would go past `sys.stdout`, which is what a notebook shows.
    """

    def __init__(self, set_option: Callable[[str, str], None], root: bool) -> None:
        self._set_option = set_option
        self._root = root
        self._own: Optional[str] = None
        self._path = ""
        self._print = False
        self._text = ""
        of_environment = re.search(r"\breport=(\S+)", os.environ.get("ANADROME_OPTIONS", ""))
        self.want(of_environment[1] if of_environment else "off")

    def want(self, where: str) -> None:
        """``off``, ``-`` or a file, as the option says."""
        path = where
        if where in ("off", "-") and self._root:
            path = self._own_file() or where
        self._set_option("report", path)
        self._print = where == "-" and path != "-"
        self._path = path if self._root and path not in ("off", "-") else ""

    def stay(self) -> None:
        """The library writes where the path leads when a sweep begins."""
        self._path = os.path.abspath(self._path) if self._path else ""

    def _own_file(self) -> str:
        if self._own is None:
            try:
                file, path = tempfile.mkstemp(prefix="anadrome-", suffix=".txt")
            except OSError:  # no room for it: the sweep is worth more than its summary
                return ""
            os.close(file)
            self._own = path
            # Not in a child that was forked off: it is the parent's.
            self._remove = weakref.finalize(self, _remove, path, os.getpid())
        return self._own

    def take(self) -> None:
        """Read what was written at the end of a sweep, and print it if that was wanted."""
        self._text = ""
        if self._path:
            with contextlib.suppress(OSError):  # the library warned
                self._text = Path(self._path).read_text()
        if self._print:
            print(self._text, end="", flush=True)

    def text(self) -> Summary:
        """The last summary; "" where there is none."""
        return Summary(self._text)

    def close(self) -> None:
        """Remove the file; the text stays."""
        if self._own is not None:
            self._remove()


def _remove(path: str, process: int) -> None:
    if os.getpid() == process:
        with contextlib.suppress(OSError):
            os.unlink(path)
