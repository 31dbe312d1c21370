# SPDX-License-Identifier: BSD-2-Clause
"""stage.py BUILD SCRATCH: installs BUILD below SCRATCH, then moves it to SCRATCH/moved/usr. Fails if an
installed text still says where it was, or where it was built."""
import pathlib
import re
import shutil
import subprocess
import sys

build, scratch = map(pathlib.Path, sys.argv[1:])
shutil.rmtree(scratch, ignore_errors=True)
first, moved = scratch / "first", scratch / "moved" / "usr"
subprocess.run(["cmake", "--install", build, "--prefix", first], check=True, stdout=subprocess.DEVNULL)
moved.parent.mkdir()
first.rename(moved)

names = [str(first), str(build), str(pathlib.Path(__file__).parents[2])]
texts = [path for path in moved.rglob("*") if path.suffix in (".cmake", ".pc", ".h", ".hpp")]
if len(texts) < 8:
    sys.exit(f"only {len(texts)} texts were installed: {texts}")
stale = [f"{path}: {name}" for path in texts for name in names
         if re.search(r"(?<![\w}])" + re.escape(name) + r"\b", path.read_text())]  # not include/anadrome for /anadrome
if stale:
    sys.exit("installed files name other folders:\n" + "\n".join(stale))
print(f"{len(list(moved.rglob('*')))} files in {moved}")
