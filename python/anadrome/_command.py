# SPDX-License-Identifier: BSD-2-Clause
"""The command `anadrome`, for what it computes."""
from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from ._errors import Error, Status


def command(what: str) -> str:
    """That of this installation (or build), or the one in PATH."""
    for parent in Path(__file__).resolve().parents:
        beside = parent / "bin" / "anadrome"
        if beside.is_file():
            return str(beside)
    found = shutil.which("anadrome")
    if found is None:
        raise Error(f"{what}: the command `anadrome` is not installed (Debian: the package anadrome)",
                    Status.ERR_UNSUPPORTED)
    return found


def output_of(words: tuple[str, ...]) -> str:
    """What it prints."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):  # 1: the answer is no
        raise Error(done.stderr.strip().removeprefix("anadrome: "), Status.ERR_ARGUMENT)
    return done.stdout
