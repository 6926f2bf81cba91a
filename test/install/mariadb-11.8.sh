#!/usr/bin/env bash
# Puts MariaDB 11.8, Debian 13's, into a directory of its own beside what this machine has: a small Debian whose programs are run through
# its own dynamic loader, without a chroot. About a minute and 700 MB; when it is there already, nothing.
#
#   mariadb-11.8.sh [DIR]
#
# It prints the directory of programs to put in front of PATH: who looks for mariadbd, mariadb-install-db, mariadb or mariadb-dump there
# finds these. DIR is where it goes; without one, LOCUS_MARIADB_DIR says where; without that, /opt if root runs this, ~/.cache/locus
# otherwise.
set -euo pipefail
# shellcheck source=test/install/apt.sh
. "$(dirname "$(readlink -f "$0")")/apt.sh"
PATH=$PATH:/usr/sbin:/sbin

usual=/opt/mariadb-11.8
[ "$(id -u)" = 0 ] || usual=${XDG_CACHE_HOME:-$HOME/.cache}/locus/mariadb-11.8
dir=$(realpath -m "${1:-${LOCUS_MARIADB_DIR:-$usual}}")

case $(uname -m) in
  x86_64) triplet=x86_64-linux-gnu loader=ld-linux-x86-64.so.2 ;;
  aarch64) triplet=aarch64-linux-gnu loader=ld-linux-aarch64.so.1 ;;
  *) die "knows no architecture $(uname -m)" ;;
esac

works() { "$1/programs/mariadbd" --no-defaults --version 2>/dev/null | grep -q 11\\.8; }

# fill makes a tree at a path where nothing is, or what an interrupted attempt left.
fill() {
  local tree=$1
  if mountpoint -q "$tree/proc"; then as_root umount "$tree/proc" || return; fi
  as_root rm -rf --one-file-system "$tree" &&
    as_root debootstrap --variant=minbase trixie "$tree" >/dev/null &&
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$tree/usr/sbin/policy-rc.d" >/dev/null && # no service starts
    as_root chmod +x "$tree/usr/sbin/policy-rc.d" &&
    as_root chroot "$tree" apt-get -qq update &&
    as_root chroot "$tree" apt-get -qq install -y --no-install-recommends mariadb-server-core mariadb-client-core mariadb-client >/dev/null &&
    as_root chroot "$tree" apt-get -qq clean
}

# program writes one that runs a program of the tree, whose files were built to be below /usr.
program() {
  local path=$1 more=$2 to
  to=$dir.new/programs/$(basename "$path")
  printf '#!/bin/sh\nexec %s --library-path %s %s "$@"%s\n' "$dir/usr/lib/$triplet/$loader" "$dir/usr/lib/$triplet" "$dir/usr/$path" "$more" | as_root tee "$to" >/dev/null
  as_root chmod 755 "$to"
}

programs() {
  local usr=$dir/usr share
  share=mysql
  [ ! -e "$dir.new/usr/share/mariadb/english/errmsg.sys" ] || share=mariadb
  as_root mkdir "$dir.new/programs"
  program sbin/mariadbd " --basedir=$usr --lc-messages-dir=$usr/share/$share --character-sets-dir=$usr/share/$share/charsets --plugin-dir=$usr/lib/mysql/plugin"
  program bin/mariadb ''
  program bin/mariadb-dump ''
  program bin/my_print_defaults ''
  program bin/resolveip ''
  # The script that makes data directories looks for the others below the directory that it is told of.
  as_root mkdir -p "$dir.new/home/bin" "$dir.new/home/sbin" "$dir.new/home/share"
  as_root ln -s "$dir/programs/mariadbd" "$dir/programs/my_print_defaults" "$dir/programs/resolveip" "$dir.new/home/bin"
  as_root ln -s "$dir/programs/mariadbd" "$dir.new/home/sbin" # where another version of the script looks
  as_root ln -s "$usr/share/$share" "$dir.new/home/share/$share"
  printf '#!/bin/sh\nexec %s "$@" --basedir=%s\n' "$usr/bin/mariadb-install-db" "$dir/home" | as_root tee "$dir.new/programs/mariadb-install-db" >/dev/null
  as_root chmod 755 "$dir.new/programs/mariadb-install-db"
}

if ! works "$dir"; then
  exec 9>"${TMPDIR:-/tmp}/locus-mariadb-11.8.$(id -u).lock" # one of these at a time, and the tree appears whole
  flock 9
  if ! works "$dir"; then
    [ -z "$(ls -A "$dir" 2>/dev/null)" ] || die "$dir is not empty but holds no MariaDB 11.8 that runs; remove it, or name another directory"
    missing=()
    command -v debootstrap >/dev/null || missing+=(debootstrap)
    [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || missing+=(debian-archive-keyring)
    [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
    say "putting MariaDB 11.8 into $dir"
    mkdir -p "$(dirname "$dir")" 2>/dev/null || as_root mkdir -p "$(dirname "$dir")"
    again fill "$dir.new"
    programs
    as_root rm -rf "$dir"
    as_root mv -T "$dir.new" "$dir"
    works "$dir" || die "MariaDB does not run from $dir: $("$dir/programs/mariadbd" --no-defaults --version 2>&1)"
    say "$("$dir/programs/mariadbd" --no-defaults --version)"
  fi
fi
echo "$dir/programs"
