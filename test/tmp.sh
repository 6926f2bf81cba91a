#!/usr/bin/env bash
# Prints the directory for the temporary files of tests: TMPDIR if it is set, memory if the
# machine has enough to spare, /tmp otherwise. Their servers make and remove tables by the
# thousand and etcd flushes each write, which on a disk takes longer than the tests.
set -euo pipefail

least=$((10 << 20)) # KiB; the tests that run at once fill some 4 GiB, and their servers take as much

if [[ -n ${TMPDIR:-} ]]; then
	echo "$TMPDIR"
	exit
fi
room=$(df --output=fstype,avail /dev/shm 2>/dev/null | awk '$1 == "tmpfs" { print $2 }')
spare=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo 2>/dev/null || true)
if [[ -w /dev/shm && ${room:-0} -ge $least && ${spare:-0} -ge $least ]]; then
	echo /dev/shm
else
	echo /tmp
fi
