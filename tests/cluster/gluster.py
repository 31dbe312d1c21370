# SPDX-License-Identifier: BSD-2-Clause
"""GlusterFS on the hosts of a lab: servers on n1 to n3, and on every host /gfs, a volume whose files are each on one of them, and
/rfs, whose files are on all three."""
import concurrent.futures

SERVERS = ("n1", "n2", "n3")
VOLUMES = ("gfs", "rfs")
PING_SECONDS = 4  # then a server that says nothing counts as gone


def on_all(lab, hosts, script):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return list(pool.map(lambda host: lab.shell(host, script), hosts))


def start(lab):
    on_all(lab, SERVERS, "rm -rf /var/lib/glusterd/*; mkdir -p /run/gluster /brick/gfs /brick/rfs; glusterd")
    bricks = {name: " ".join(f"{host}:/brick/{name}" for host in SERVERS) for name in VOLUMES}
    lab.shell("n1", "for host in n2 n3; do gluster peer probe $host; done")
    on_all(lab, SERVERS, "until [ $(gluster pool list | grep -c Connected) = 3 ]; do sleep 0.1; done")
    lab.shell("n1", f"""
        gluster volume create gfs {bricks["gfs"]} force
        gluster volume create rfs replica 3 {bricks["rfs"]} force
        for name in gfs rfs; do
          gluster volume set $name network.ping-timeout {PING_SECONDS}
          gluster volume set $name server.tcp-user-timeout {PING_SECONDS}
          gluster volume start $name
        done""")
    mount(lab, lab.names())


def mount(lab, hosts):
    on_all(lab, hosts, "for name in gfs rfs; do mkdir -p /$name; glusterfs --volfile-server=n1 --volfile-id=$name /$name; "
                       "stat /$name > /dev/null; done")


def signal(lab, host, volume, what):
    """To the server's process for one volume, as kill(1) names it."""
    lab.shell(host, f"kill -{what} $(pgrep -f 'glusterfsd.*--volfile-id {volume}[.]')")


def heal(lab):
    """Servers that were killed are started, and clients have all of them again."""
    for name in VOLUMES:
        lab.shell("n1", f"gluster volume start {name} force; until [ $(gluster volume status {name} | "
                        f"grep -c '^Brick .* Y ') = 3 ]; do sleep 0.2; done")
    on_all(lab, lab.names(), "umount -l /gfs /rfs")
    mount(lab, lab.names())


def server_of(lab, path):
    """The host that has the file /gfs/PATH."""
    found = [host for host in SERVERS if lab.run(host, "test", "-s", f"/brick/gfs/{path}").returncode == 0]
    if len(found) != 1:
        raise AssertionError(f"{path} is on {found}")
    return found[0]
