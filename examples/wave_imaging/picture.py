# SPDX-License-Identifier: BSD-2-Clause
"""picture.py OUT.png A.pgm B.pgm ...: the pictures side by side, twice as large."""
import struct
import sys
import zlib

GAP = b"\xff" * 8


def rows_of(path):
    with open(path, "rb") as file:
        if file.readline() != b"P5\n":
            sys.exit(f"{path} is no PGM file of this example")
        width, height = map(int, file.readline().split())
        file.readline()
        pixels = file.read(width * height)
    rows = (pixels[row * width:(row + 1) * width] for row in range(height))
    return [bytes(byte for byte in row for _ in range(2)) for row in rows for _ in range(2)]


def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def main(out, *paths):
    lines = [GAP.join(parts) for parts in zip(*map(rows_of, paths))]
    header = struct.pack(">IIBBBBB", len(lines[0]), len(lines), 8, 0, 0, 0, 0)  # 8 bits of grey
    pixels = zlib.compress(b"".join(b"\0" + line for line in lines), 9)
    with open(out, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b""))


main(*sys.argv[1:])
