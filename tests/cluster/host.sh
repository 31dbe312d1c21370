#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# host.sh HOST: pid 1 of a host, in namespaces that `power` made. What it writes outside its disk is its own, over the
# machine's files, and lost when its power is cut; /scratch is its disk, /brick one of
# a file system that is distributed over hosts, /common one that all hosts share.
set -euo pipefail
host=$1 room=/mnt/hosts/$1
read -r pid _ < /proc/self/stat
hostname "$host"

# The link to the bridge, which is in the network of pid 1 of the head: /proc is still the head's. `nsenter -t 1` would
# mean this process from util-linux 2.41 on, which no longer looks for the process in /proc.
head=(nsenter --net=/proc/1/ns/net)
ip link set lo up
"${head[@]}" ip link add "link-$host" type veth peer name eth0 address "02:00:0a:4d:00:0${host#n}" netns "/proc/$pid/ns/net"
"${head[@]}" ip link set "link-$host" master lab up
ip address add "10.77.0.${host#n}/24" dev eth0
ip link set eth0 up

mkdir -p "$room/over"
mount -t tmpfs over "$room/over"
cd "$room/over"
mkdir upper work root
mount -t overlay -o "lowerdir=/,upperdir=$PWD/upper,workdir=$PWD/work" overlay root
cd root
mount -t tmpfs tmp tmp
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs shm dev/shm
while read -r path; do
  mkdir -p ".$path"
  mount --rbind "$path" ".$path"
done < /mnt/seen
mkdir -p scratch brick common run machine
mount --bind "$room/disk" scratch
mount --bind "$room/brick" brick
mount --bind /mnt/common common
mount -t tmpfs run run
cp /mnt/names etc/hosts
echo "$host" > etc/hostname
cat /proc/sys/kernel/random/uuid > etc/boot_id
mount -t proc proc proc
mount --bind etc/boot_id proc/sys/kernel/random/boot_id
echo "$pid" > "$room/pid"
touch "$room/up"
pivot_root . machine
umount -l /machine
exec < /dev/null &> /dev/null
# Orphans are this process's; bash takes their ends while it waits.
trap : CHLD
while :; do sleep 1000 & wait || true; done
