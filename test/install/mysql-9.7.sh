#!/usr/bin/env bash
# Puts MySQL 9.7 (server, client, router) into a directory of its own: a small
# Debian unstable, whose programs are run through its own dynamic loader, beside
# this machine's older C library, without a chroot. About a minute and 1 GB; when
# it is there already, nothing.
#
#   mysql-9.7.sh [DIR]
#
# DIR is where it goes; without one, LOCUS_MYSQL_DIR says where; without that,
# any tree that the tests find will do, and a new one goes to /opt if root runs
# this, where every user can run it, and to ~/.cache/locus otherwise.
set -euo pipefail
# shellcheck source=test/install/apt.sh
. "$(dirname "$(readlink -f "$0")")/apt.sh"
PATH=$PATH:/usr/sbin:/sbin

usual=(/opt/mysql-9.7)
[ "$(id -u)" = 0 ] || usual=("${XDG_CACHE_HOME:-$HOME/.cache}/locus/mysql-9.7" "${usual[@]}")
asked=${1:-${LOCUS_MYSQL_DIR:-}}

case $(uname -m) in
  x86_64) triplet=x86_64-linux-gnu loader=ld-linux-x86-64.so.2 ;;
  aarch64) triplet=aarch64-linux-gnu loader=ld-linux-aarch64.so.1 ;;
  *) die "Debian has no MySQL for $(uname -m)" ;;
esac

# mysqld runs a tree's server, as the tests do.
mysqld() {
  local tree=$1 libraries=$1/usr/lib/$triplet; shift
  "$libraries/$loader" --library-path "$libraries:$tree/usr/lib/mysql/private" "$tree/usr/sbin/mysqld" "$@"
}

works() { mysqld "$1" --no-defaults --version >/dev/null 2>&1; }

# fill makes a tree at a path where nothing is, or what an interrupted attempt
# left. The archive's Release file may be older than its own expiry date says.
fill() {
  local tree=$1
  if mountpoint -q "$tree/proc"; then as_root umount "$tree/proc" || return; fi
  as_root rm -rf --one-file-system "$tree" &&
    as_root debootstrap --variant=minbase sid "$tree" >/dev/null &&
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$tree/usr/sbin/policy-rc.d" >/dev/null && # no service starts
    as_root chmod +x "$tree/usr/sbin/policy-rc.d" &&
    as_root chroot "$tree" apt-get -qq -o Acquire::Check-Valid-Until=false update &&
    as_root chroot "$tree" apt-get -qq install -y --no-install-recommends \
      mysql-server-core mysql-client-core mysql-client mysql-router >/dev/null &&
    as_root chroot "$tree" apt-get -qq clean
}

[ -z "$asked" ] || usual=("$asked")
for tree in "${usual[@]}"; do
  if works "$tree"; then exit; fi
done
dir=$(realpath -m "${usual[0]}")

# One of these at a time, and the tree appears whole.
exec 9>"${TMPDIR:-/tmp}/locus-mysql-9.7.$(id -u).lock"
flock 9
if works "$dir"; then exit; fi
[ -z "$(ls -A "$dir" 2>/dev/null)" ] || die "$dir is not empty but holds no MySQL that runs; remove it, or name another directory"
missing=()
command -v debootstrap >/dev/null || missing+=(debootstrap)
[ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || missing+=(debian-archive-keyring)
[ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
say "putting MySQL into $dir"
mkdir -p "$(dirname "$dir")" 2>/dev/null || as_root mkdir -p "$(dirname "$dir")"
again fill "$dir.new"
works "$dir.new" || die "MySQL does not run from $dir.new: $(mysqld "$dir.new" --no-defaults --version 2>&1)"
as_root mv -T "$dir.new" "$dir"
say "$(mysqld "$dir" --no-defaults --version)"
