#!/usr/bin/env bash
# Tests the product on a machine that has Go and git and nothing else: a Debian in a temporary directory, without a C compiler, servers,
# Python or Node. A plain user there clones the current commit and runs `go test ./...`, and then `go test -count=1 ./...` without a network.
# It needs root, and takes the Go of this machine. Debian's packages and the modules are downloaded, and nothing is found in a cache.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=test/install/apt.sh
. "$here/apt.sh"
[ "$(id -u)" = 0 ] || die "run it as root"
command -v debootstrap >/dev/null || apt_install debootstrap

root=$(mktemp -d)
trap 'rm -rf --one-file-system "$root"' EXIT
chmod 755 "$root"
say "installing Debian into $root"
debootstrap --variant=minbase --include=git,ca-certificates stable "$root" >"$root.log" || { tail "$root.log" >&2; die "debootstrap failed"; }
rm -f "$root.log"
cp -a "$(go env GOROOT)" "$root/usr/local/go"
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
chroot "$root" useradd --create-home --shell /bin/bash dev
git -c safe.directory='*' clone -q --bare "$here/../.." "$root/srv/locus.git"
chroot "$root" chown -R dev: /srv/locus.git

# inside runs a command as the plain user, in mount and process namespaces of its own. Options of unshare may come before it.
inside() {
  local options=()
  while [[ $1 == --* ]]; do options+=("$1") && shift; done
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child "${options[@]}" bash -euc '
    root=$1; shift
    mount -t proc proc "$root/proc"
    mount -t tmpfs tmpfs "$root/tmp"
    mount --rbind /dev "$root/dev"
    chmod 1777 "$root/tmp"
    ip link set lo up
    exec chroot --userspec=dev:dev "$root" env -i HOME=/home/dev PATH=/usr/local/go/bin:/usr/bin:/bin GOPROXY="$GOPROXY" GOSUMDB="$GOSUMDB" bash -euc "$1"
  ' inside "$root" "$@"
}
GOPROXY=$(go env GOPROXY) GOSUMDB=$(go env GOSUMDB)
export GOPROXY GOSUMDB
say "go test ./..."
inside 'cd && git clone -q /srv/locus.git && cd locus && time go test ./...'
say "go test -count=1 ./... without a network"
inside --net 'cd ~/locus && time go test -count=1 ./...'
