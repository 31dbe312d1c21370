# SPDX-License-Identifier: BSD-2-Clause
"""Slurm on the hosts of a lab: slurmctld on n1, a slurmd on every host."""
import secrets

import gluster

CONFIGURATION = """ClusterName=lab
SlurmctldHost=n1
SlurmUser=root
AuthType=auth/munge
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=/var/log/slurmctld.log
SlurmdLogFile=/var/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/linear
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
KillWait=5
SchedulerParameters=sched_interval=1,bf_interval=1
SlurmdParameters=config_overrides
NodeName={nodes} CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def start(lab):
    configure(lab, lab.names(), secrets.token_hex(64))
    lab.shell("n1", "slurmctld")
    wait_for(lab, lab.names())


def configure(lab, hosts, key):
    configuration = CONFIGURATION.format(nodes=",".join(lab.names()))
    gluster.on_all(lab, hosts, f"""
        mkdir -p /run/munge /var/log/munge /var/lib/munge /var/spool/slurmctld /var/spool/slurmd /etc/slurm
        rm -rf /var/spool/slurmctld/* /var/spool/slurmd/*
        echo {key} > /etc/munge/munge.key
        chmod 400 /etc/munge/munge.key
        chown -R munge: /etc/munge /run/munge /var/log/munge /var/lib/munge
        echo 'CgroupPlugin=cgroup/v1' > /etc/slurm/cgroup.conf
        cat > /etc/slurm/slurm.conf <<'END'
{configuration}END
        runuser -u munge -- munged
        slurmd""")


def come_back(lab, host):
    """It had lost its power, and with it what was not on its disk."""
    lab.on(host)
    configure(lab, [host], lab.shell("n1", "cat /etc/munge/munge.key").strip())
    wait_for(lab, [host])


def wait_for(lab, hosts):
    lab.shell("n1", f"until [ $(sinfo -h -N -t idle,alloc,mix -o %N | grep -cxE '{'|'.join(hosts)}') = {len(hosts)} ]; do sleep 0.2; done")
