# SPDX-License-Identifier: BSD-2-Clause
"""declared_library.py HEADERS FOLDER COMPILER [FLAG...]: FOLDER/libanadrome.so.0, a library of empty functions, made of the
declarations in HEADERS/anadrome. What the library exports is what these declare (unit.exports), and its own types are
nobody's concern."""
import pathlib
import re
import subprocess
import sys

NAMES = ("anadrome.h", "enzyme.h", "gradient.h", "graph.h", "schedule.h", "sketch.h", "store.h")


def declarations(headers):
    """Every exported function, in the order of the files."""
    for path in sorted(headers.glob("anadrome/*.h")):
        text = re.sub(r"/\*.*?\*/|//[^\n]*|^ *#[^\n]*(\\\n[^\n]*)*", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
        if path.name != "petsc.h":
            yield from re.findall(r"ANADROME_API ([^;{]*\));", text)


def library_of(headers, folder, compiler):
    library = folder / "libanadrome.so.0"
    (folder / "declared.c").write_text("".join(f"#include <anadrome/{name}>\n" for name in NAMES) +
                                       "".join(f"{each} {{ __builtin_trap(); }}\n" for each in declarations(headers)))
    subprocess.run([*compiler, f"-I{headers.resolve()}", "-std=c11", "-g", "-O0", "-w", "-fPIC", "-shared",
                    f"-Wl,-soname,{library.name}", "declared.c", "-o", library.name], check=True, cwd=folder)
    return library


if __name__ == "__main__":
    library_of(*(pathlib.Path(word) for word in sys.argv[1:3]), sys.argv[3:])
