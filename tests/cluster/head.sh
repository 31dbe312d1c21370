#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# head.sh HOSTS MIB PATH...: pid 1 of the lab, in namespaces of its own, and its login host, 10.77.0.254. Makes disks of
# MIB, a bridge and the hosts n1..nHOSTS, which see each PATH of the machine as it is. Says "up PID", its process as
# seen outside. Ends when its standard input does: then the kernel ends every process of the lab, and with the last one
# its mounts, loop devices and links are gone, whatever went wrong before.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
hosts=$1 mebibytes=$2
shift 2
read -r outside _ < /proc/self/stat
mount -t proc proc /proc
mount -t tmpfs lab /mnt
mkdir /mnt/tmp /mnt/hosts /mnt/common
printf '%s\n' "$@" > /mnt/seen
hostname head

# disk DIRECTORY: a file system of limited size, whose image has no name.
disk() {
  local image
  mkdir -p "$1"
  image=$(mktemp)
  truncate -s "${mebibytes}M" "$image"
  if ! { mkfs.ext4 -q -m 0 -I 512 -E lazy_itable_init=0 "$image" && mount -o loop,errors=remount-ro "$image" "$1"; } 2> /mnt/tmp/why; then
    echo "no loop device, $1 is a tmpfs: $(tail -n 1 /mnt/tmp/why)" >&2
    mount -t tmpfs -o "size=${mebibytes}M" disk "$1"
  fi
  rm "$image"
}
disk /mnt/common

ip link set lo up
ip link add lab type bridge
ip address add 10.77.0.254/24 dev lab
ip link set lab up
{
  echo "127.0.0.1 localhost"
  echo "10.77.0.254 head"
  for ((i = 1; i <= hosts; ++i)); do echo "10.77.0.$i n$i"; done
} > /mnt/names
mount --bind /mnt/names /etc/hosts

powered=()
for ((i = 1; i <= hosts; ++i)); do
  disk "/mnt/hosts/n$i/disk"
  disk "/mnt/hosts/n$i/brick"
  "$here/power" on "n$i" &
  powered+=($!)
done
for each in "${powered[@]}"; do wait "$each"; done  # a host that did not come up ends the lab
echo "up $outside"
cat > /dev/null
