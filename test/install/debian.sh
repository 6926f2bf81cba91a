#!/usr/bin/env bash
# Puts two new Debians into a directory, for tests that install packages: bare/, the smallest one, and systemd/, which also has systemd's
# programs. About a minute and 500 MB. If they exist already, it does nothing.
#
#   debian.sh [DIR]
#
# It prints the directory. DIR is where they go; the default is LOCUS_DEBIAN_DIR, or else /opt for root and ~/.cache/locus for other users.
set -euo pipefail
# shellcheck source=test/install/apt.sh
. "$(dirname "$(readlink -f "$0")")/apt.sh"
PATH=$PATH:/usr/sbin:/sbin

suite=trixie
usual=/opt/locus-debian-$suite
[ "$(id -u)" = 0 ] || usual=${XDG_CACHE_HOME:-$HOME/.cache}/locus/debian-$suite
dir=$(realpath -m "${1:-${LOCUS_DEBIAN_DIR:-$usual}}")

works() { [ -x "$1/bare/usr/bin/dpkg" ] && [ -x "$1/systemd/usr/bin/systemctl" ]; }

# fill creates both. Nothing in them starts a service.
fill() {
  local tree=$1
  as_root rm -rf --one-file-system "$tree" &&
    as_root mkdir -p "$tree" &&
    as_root debootstrap --variant=minbase "$suite" "$tree/bare" >/dev/null &&
    as_root cp -a "$tree/bare" "$tree/systemd" &&
    as_root chroot "$tree/systemd" apt-get -qq install -y --no-install-recommends systemd >/dev/null 2>&1 &&
    forget "$tree/bare" && forget "$tree/systemd"
}

# forget removes downloaded packages, and the lists of packages: nothing else can be installed from the network by accident.
forget() {
  as_root chroot "$1" apt-get -qq clean && as_root find "$1/var/lib/apt/lists" -mindepth 1 -delete
}

if ! works "$dir"; then
  exec 9>"${TMPDIR:-/tmp}/locus-debian-$suite.$(id -u).lock" # one of these at a time, and the tree appears whole
  flock 9
  if ! works "$dir"; then
    [ -z "$(ls -A "$dir" 2>/dev/null)" ] || die "$dir is not empty but has no Debian; remove it, or name another directory"
    missing=()
    command -v debootstrap >/dev/null || missing+=(debootstrap)
    [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || missing+=(debian-archive-keyring)
    [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
    say "putting Debian $suite into $dir"
    mkdir -p "$(dirname "$dir")" 2>/dev/null || as_root mkdir -p "$(dirname "$dir")"
    again fill "$dir.new"
    as_root mv -T "$dir.new" "$dir"
  fi
fi
echo "$dir"
