# SPDX-License-Identifier: BSD-2-Clause
"""The lab ends with who made it, and leaves nothing."""
import pathlib
import subprocess
import sys
import time

import cluster
import lab


def links():
    return subprocess.run(["ip", "-br", "link"], stdout=subprocess.PIPE, text=True, check=True).stdout


class Ends(cluster.Case):
    def test_with_who_made_it(self):
        """Killed, as ctest does it when time is up."""
        mounts, before = pathlib.Path("/proc/mounts").read_text(), links()
        script = f"import sys, time; sys.path.insert(0, '{lab.HERE}'); import lab; made = lab.Lab(hosts=2); made.up(); " \
                 "print(made.pid, flush=True); time.sleep(1000)"
        owner = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        pid = int(owner.stdout.readline())
        inside = subprocess.Popen(lab.enter(pid, "n2", ["sleep", "1000"]))
        self.assertIn("/mnt/hosts/n2", pathlib.Path(f"/proc/{pid}/mounts").read_text())
        owner.kill()
        owner.communicate()
        self.assertNotEqual(inside.wait(60), 0)
        for _ in range(100):
            time.sleep(0.1 if pathlib.Path(f"/proc/{pid}").exists() else 0)
        self.assertFalse(pathlib.Path(f"/proc/{pid}").exists())
        self.assertEqual((pathlib.Path("/proc/mounts").read_text(), links()), (mounts, before))


if __name__ == "__main__":
    cluster.main(hosts=2)
