# SPDX-License-Identifier: BSD-2-Clause
"""The hosts of the lab are hosts: they share the network and /common and nothing else, fail as hosts do, and leave nothing."""
import pathlib
import subprocess
import sys
import time

import cluster
import lab

PLACES = "/tmp/mine /dev/shm/mine /scratch/mine /run/mine /etc/mine /common/ours"


def links():
    return subprocess.run(["ip", "-br", "link"], stdout=subprocess.PIPE, text=True, check=True).stdout


class Hosts(cluster.Case):
    def reaches(self, host, other):
        """Nobody listens there: a host that is there says so."""
        return "refused" in self.LAB.run(host, "timeout", 2, "bash", "-c", f": < /dev/tcp/{other}/9").stderr

    def test_share_the_network_and_one_directory(self):
        identity = "hostname; cat /proc/sys/kernel/random/boot_id; readlink /proc/self/ns/ipc; ps -e --no-headers | wc -l"
        first = self.LAB.shell("n1", f"{identity}; touch {PLACES}").split()
        second = self.LAB.shell("n2", f"{identity}; ls -d {PLACES} 2> /dev/null || true").split()
        self.assertEqual((first[0], second[0], second[4:]), ("n1", "n2", ["/common/ours"]))
        self.assertTrue(first[1] != second[1] and first[2] != second[2])
        self.assertLess(int(first[3]), 10)
        self.assertFalse(pathlib.Path("/etc/mine").exists())

    def test_have_disks_of_limited_size(self):
        filled = self.LAB.run("n1", "dd", "if=/dev/zero", "of=/scratch/zeros", "bs=1M", "count=100")
        self.assertIn("No space left on device", filled.stderr)
        self.LAB.shell("n2", "dd if=/dev/zero of=/scratch/zeros bs=1M count=30")

    def test_are_cut_off_and_come_back(self):
        self.assertTrue(self.reaches("n1", "n2"))
        self.LAB.cut("n2")
        self.assertFalse(self.reaches("n1", "n2"))
        self.LAB.mend("n2")
        self.assertTrue(self.reaches("n1", "n2"))

    def test_lose_their_power_but_not_their_disks(self):
        self.LAB.shell("n2", "touch /scratch/mine /run/mine; sleep 1234 &> /dev/null &")
        boot = self.LAB.shell("n2", "cat /proc/sys/kernel/random/boot_id")
        self.LAB.off("n2")
        self.assertNotIn("sleep 1234", self.LAB.shell("head", "ps -e -o args"))
        self.assertNotEqual(self.LAB.run("n2", "true").returncode, 0)
        self.LAB.on("n2")
        self.assertEqual(self.LAB.shell("n2", "ls -d /scratch/mine /run/mine 2> /dev/null || true"), "/scratch/mine\n")
        self.assertNotEqual(self.LAB.shell("n2", "cat /proc/sys/kernel/random/boot_id"), boot)
        self.assertTrue(self.reaches("n1", "n2"))


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
