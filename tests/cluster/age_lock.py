# SPDX-License-Identifier: BSD-2-Clause
"""Makes the last heartbeat in the lock of a run ten minutes older: as an administrator may, who knows that its host is gone."""
import ctypes
import re
import sys

checksum = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
checksum.restype = ctypes.c_uint64
with open(sys.argv[1], "r+b") as lock:
    text = re.sub(rb"(?<=heartbeat )\d+", lambda beat: b"%d" % (int(beat[0]) - 600), lock.read())
    summed = text[:text.index(b"sum ")]
    text = summed + b"sum %d\n" % checksum(summed, ctypes.c_size_t(len(summed)))
    lock.seek(0)
    lock.write(text.ljust(511) + b"\n")
