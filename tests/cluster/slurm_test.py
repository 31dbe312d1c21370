# SPDX-License-Identifier: BSD-2-Clause
"""The job scripts of docs/cluster.md, word by word, under Slurm: a job for scratch, and one that goes on after a signal, its wall
time, and a node that failed, with the bits of one host."""
import os
import re
import time

import cluster
import lab
import launch
import slurm

PAGE = (lab.SOURCES / "docs" / "cluster.md").read_text()
WORK = "/common/work"
FOUR = ("--nodes=4", "--ntasks-per-node=1")  # said to sbatch, they come before what the scripts say


def script(name):
    return re.search(rf"<!-- file: {name} -->\n```bash\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)[1]


class Case(cluster.Case):
    def setUp(self):
        super().setUp()
        work = self.path("head", WORK)
        work.mkdir()
        words = " ".join(map(str, cluster.ASYNC))
        for program, more in (("gradient", ""), ("adjoint", " --resume --set checkpoint_interval=0")):
            (work / program).write_text(f"#!/bin/sh\nexec {launch.path_of('cluster_job')} {words}{more}\n")
            (work / program).chmod(0o755)
        for name in ("job.sh", "goes-on.sh"):
            (work / name).write_text(script(name))
        self.addCleanup(self.slurm, "scancel --full -s KILL $(squeue -h -o %A) || true")

    def slurm(self, words, environment=None):
        return self.LAB.shell("n1", f"cd {WORK}; timeout 20 {words}", environment={
            "OMPI_MCA_plm": "slurm", "SCRATCH": "/common", "TMPDIR": "/scratch", **(environment or {})})

    def submit(self, name, *options, at=None):
        self.job = self.slurm(f"sbatch --parsable {' '.join(FOUR + options)} {name}",
                              self.at_step(at, cluster.GO) if at else None).strip()

    def output(self):
        file = self.path("head", f"{WORK}/slurm-{self.job}.out")
        return file.read_text() if file.exists() else ""

    def comes(self, state, seconds=100):
        """The job is in that state."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            said = self.slurm(f"scontrol show job {self.job}")
            if re.search(rf"JobState={state}\b", said):
                return said
            time.sleep(0.2)
        self.fail(f"not {state}\n{said}\n{self.output()}")

    def says(self, pattern, seconds=100):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if re.search(pattern, self.output(), re.MULTILINE):
                return
            time.sleep(0.1)
        self.fail(f"not said: {pattern}\n{self.output()}")

    def is_exact(self):
        self.comes("COMPLETED")
        self.assertIn("gradient hash      " + launch.right_hash(cluster.GRID, cluster.STEPS), self.output())
        self.assertEqual([name for name in os.listdir(self.path("head", "/common"))
                          if name not in ("work", "go", "lost+found")], [])

    def has_ended(self):
        """The head sees the processes of all hosts."""
        self.LAB.shell("head", "while pgrep -x 'slurmstepd|mpirun|orted|prterun|prted|cluster_job' > /dev/null; do sleep 0.1; done")
        self.slurm("bash -c 'while [ \"$(squeue -h -t CG)\" ]; do sleep 0.1; done'")

    def goes_on(self, sweep):
        """Back in the queue, where it would wait for two minutes, so that what was there before has ended."""
        self.comes("PENDING")
        self.has_ended()
        # slurmd knows by the second which of a job's credentials it has revoked.
        self.slurm(f"scontrol update JobId={self.job} StartTime=now+3")
        self.is_exact()
        self.assertIn(f"going on in the {sweep} sweep", self.output())


class Scratch(Case):
    def test_the_script_of_the_page(self):
        self.submit("job.sh")
        self.is_exact()
        self.assertIn("layout rank", self.output())
        for host in self.LAB.names():
            self.assertEqual(self.left(host, "/scratch"), {})


class GoesOn(Case):
    def test_undisturbed(self):
        self.submit("goes-on.sh")
        self.is_exact()

    def signalled(self, sweep, at):
        self.submit("goes-on.sh", at=at)
        self.says("^rank 0 is at")
        self.slurm(f"scancel -b -s USR1 {self.job}")
        self.says("Forwarding signal 10 to job")
        self.go()
        self.goes_on(sweep)

    def test_told_in_the_forward_sweep(self):
        self.signalled("forward", "forward 300 0")

    def test_told_in_the_reverse_sweep(self):
        self.signalled("reverse", "reverse 200 0")

    def test_told_by_the_clock(self):
        """Five minutes before the end of six, and up to one minute early."""
        self.submit("goes-on.sh", "--time=6", at="reverse 200 0")
        self.says("Forwarding signal 10 to job")
        self.go()
        self.goes_on("reverse")

    def test_killed_at_the_end_of_its_time(self):
        self.submit("goes-on.sh", "--time=1", "--signal=B:CONT@1", at="reverse 200 0")
        self.comes("TIMEOUT", 150)
        self.go()
        self.has_ended()
        self.slurm(f"scontrol requeue {self.job}")
        self.goes_on("reverse")

    def test_a_node_fails(self):
        self.submit("goes-on.sh", at="reverse 200 0")
        self.says("^rank 0 is at")
        self.LAB.off("n4")
        self.comes("PENDING")
        self.go()
        slurm.come_back(self.LAB, "n4")
        self.goes_on("reverse")


if __name__ == "__main__":
    cluster.main(hosts=4, prepare=slurm.start)
