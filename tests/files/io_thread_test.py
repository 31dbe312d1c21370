# SPDX-License-Identifier: BSD-2-Clause
"""The I/O thread and the watch call neither MPI nor HDF5, while the caller's thread is busy with both."""
import json
import unittest

import launch


class IoThread(launch.DirectoryCase):
    def test_calls_neither_mpi_nor_hdf5(self):
        reports = self.directory / "reports"
        reports.mkdir()
        audited = {"LD_AUDIT": launch.path_of("audit_calls"),
                   "AUDIT_REPORT": str(reports / "of"), "ANADROME_OPTIONS": "watchdog=0.05"}
        ranks = launch.ranks_command(2, "busy_sweep", self.directory)
        # Only the ranks are audited, not mpirun.
        env = ["env"] + [f"{key}={value}" for key, value in audited.items()]
        process = launch.run_command(ranks[:3] + env + ranks[3:])
        self.assertEqual(process.returncode, 0, launch.said(process))
        counts = [json.loads(path.read_text()) for path in reports.iterdir()]
        self.assertEqual(len(counts), 2)
        for count in counts:
            # The audit saw thousands of calls of the main thread, the library's own and the I/O thread's work.
            self.assertGreater(count["main"], 1000, count)
            self.assertGreater(count["main_from_library"], 100, count)
            self.assertGreater(count["io_transfers"], 60, count)
            self.assertEqual(count["io_thread"], 0, count)
            self.assertEqual(count["other_threads"], 0, count)


if __name__ == "__main__":
    unittest.main()
