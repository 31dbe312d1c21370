# SPDX-License-Identifier: BSD-2-Clause
"""A cluster in a box: hosts n1..nN made of Linux namespaces on this machine, and a head from which mpirun starts jobs.
head.sh and host.sh say what a host is; this starts them, enters them and ends them."""
import os
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parent.parent
NAMESPACES = ["unshare", "--mount", "--uts", "--ipc", "--net", "--pid", "--fork", "--kill-child", "--propagation", "private"]
OPENMPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_plm": "rsh", "OMPI_MCA_plm_rsh_agent": str(HERE / "agent"),
    "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,vader,self", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_btl_tcp_if_include": "10.77.0.0/24", "OMPI_MCA_oob_tcp_if_include": "10.77.0.0/24",
    "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_odls_base_sigkill_timeout": "0",
    # The same for Open MPI 5.
    "PRTE_MCA_plm": "ssh", "PRTE_MCA_plm_ssh_agent": str(HERE / "agent"), "PRTE_MCA_prte_if_include": "10.77.0.0/24",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "PRTE_MCA_hwloc_default_binding_policy": "none",
    "PRTE_MCA_odls_base_sigkill_timeout": "0",
    "HDF5_USE_FILE_LOCKING": "FALSE",
}


class NoLab(Exception):
    """This machine does not allow it; the message says what."""


def enter(pid, host, words):
    """The command line that runs `words` on `host` of the lab whose pid 1 is `pid`."""
    command = ["nsenter", "-t", str(pid), "-m", "-u", "-i", "-n", "-p", "--wd=/"]
    if host != "head":
        command += [str(HERE / "enter"), host]
    return command + [str(word) for word in words]


class Lab:
    """Use it in a `with`: it is gone at the end, also when this process is killed."""

    def __init__(self, hosts=4, mebibytes=64, seen=()):
        self.hosts, self.mebibytes = hosts, mebibytes
        self.seen = [SOURCES, *seen]

    def __enter__(self):
        self.up()
        return self

    def __exit__(self, *_):
        self.down()

    def up(self):
        why = self.forbidden()
        if why:
            raise NoLab(f"no cluster in a box here: {why}")
        # Its end of the pipe is the life of the lab.
        self.process = subprocess.Popen(
            [*NAMESPACES, HERE / "head.sh", str(self.hosts), str(self.mebibytes), *map(str, self.seen)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
        said = self.process.stdout.readline()
        up = re.fullmatch(r"up (\d+)\n", said)
        if not up:
            self.down()
            raise RuntimeError("the lab did not come up")
        self.pid = int(up[1])

    @staticmethod
    def forbidden():
        """Why there can be no lab; None: there can."""
        if os.geteuid() != 0:
            return "it takes root"
        tried = subprocess.run(
            [*NAMESPACES, "sh", "-ec",
             "mount -t proc proc /proc; mount -t tmpfs lab /mnt; mkdir /mnt/u /mnt/w /mnt/r\n"
             "mount -t overlay -o lowerdir=/,upperdir=/mnt/u,workdir=/mnt/w overlay /mnt/r\n"
             "ip link add name lab type bridge; ip link add name link type veth peer name eth0"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        return (tried.stderr.strip().splitlines() or ["namespaces"])[0] if tried.returncode != 0 else None

    def down(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def start(self, host, *words, environment=None, **how):
        """A Popen of `words` on that host or on the head."""
        variables = {**os.environ, **OPENMPI, "TMPDIR": "/mnt/tmp", **(environment or {})}
        return subprocess.Popen(enter(self.pid, host, words), env=variables, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **how)

    def run(self, host, *words, seconds=60, environment=None, check=False):
        """Runs to the end and returns the CompletedProcess."""
        process = self.start(host, "timeout", "-k", 2, seconds, *words, environment=environment)
        out, err = process.communicate()
        done = subprocess.CompletedProcess(words, process.returncode, out, err)
        if check and done.returncode != 0:
            raise AssertionError(f"{host}: {' '.join(map(str, words))}: exit code {done.returncode}\n{out}\n{err}")
        return done

    def shell(self, host, script, **how):
        """What a script printed that must succeed."""
        return self.run(host, "bash", "-ec", script, check=True, **how).stdout

    def names(self):
        return [f"n{i + 1}" for i in range(self.hosts)]

    def cut(self, host):
        self.shell("head", f"ip link set link-{host} down")

    def mend(self, host):
        self.shell("head", f"ip link set link-{host} up")
        # Nobody listens there: the head says so when it is reached.
        self.shell(host, "until (: < /dev/tcp/head/9) 2>&1 | grep -q refused; do sleep 0.1; done")

    def off(self, host):
        self.shell("head", f"{HERE}/power off {host}")

    def on(self, host):
        self.shell("head", f"{HERE}/power on {host}")

    def disk(self, host):
        """The host's /scratch, as the head sees it, also while the host is off."""
        return f"/mnt/hosts/{host}/disk"
