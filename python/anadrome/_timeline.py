# SPDX-License-Identifier: BSD-2-Clause
"""Pictures that a notebook shows inline."""
from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Union

from ._command import command, output_of


class Picture(str):
    """An SVG file as text, which a notebook shows as a picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def timeline(trace: Union[str, os.PathLike[str]]) -> Picture:
    """Draw a sweep from the file that ``Run(trace=file)`` wrote at its end: what the solver and
    the disk did when, on rank 0. Local; needs no MPI.

    It runs the command ``anadrome timeline`` of the same installation, or of PATH.

    Parameters
    ----------
    trace : str or path
        The file.

    Returns
    -------
    Picture
        A text, SVG; a notebook shows it.

    Raises
    ------
    Error
        ``ERR_ARGUMENT``: the file is not there, or is no trace. ``ERR_UNSUPPORTED``: the command is
        not installed.
    """
    with tempfile.TemporaryDirectory(prefix="anadrome-") as folder:
        path = Path(folder, "timeline.svg")
        output_of((command("timeline"), "timeline", os.fspath(trace), "--svg", str(path)))
        return Picture(path.read_text())
