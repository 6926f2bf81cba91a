#!/usr/bin/env bash
# Installs the servers that the demo, the tests and the benchmarks run, from the
# distribution's packages. What is there is left alone; when all is there, it
# takes no time and needs no root.
#
#   servers.sh          MariaDB: what `make demo` needs
#   servers.sh test     mariadb-backup, Redis, memcached, etcd, Prometheus, codespell and rpm as well, for `make test`
#   servers.sh bench    these and haproxy, the plain TCP hop of `make bench`
#
# It installs programs, not services: mariadb-server would start a server of the
# machine's own, mariadb-server-core does not.
set -euo pipefail
# shellcheck source=test/install/apt.sh
. "$(dirname "$(readlink -f "$0")")/apt.sh"
PATH=$PATH:/usr/sbin:/usr/local/sbin

case ${1:-} in
  '' | test | bench) ;;
  *) die "knows only: test, bench" ;;
esac

# has_mariadb tells whether a server can be initialised and run, and asked.
has_mariadb() {
  command -v mariadbd && command -v mariadb-install-db && command -v my_print_defaults && command -v mariadb
} >/dev/null

# mariadb_core is the package with the bare server; older releases put its
# version into the name.
mariadb_core() {
  apt-cache pkgnames mariadb-server-core | sort -V | grep -xE 'mariadb-server-core(-[0-9.]+)?' | head -n 1
}

if ! has_mariadb; then
  core=$(mariadb_core)
  apt_install "${core:-mariadb-server-core}" mariadb-client
  has_mariadb || die "MariaDB's packages are installed, but mariadbd or mariadb-install-db is not on the PATH"
fi

# quiet_install installs packages that would start a service of the machine's
# own, and keeps them from it.
quiet_install() {
  local policy=/usr/sbin/policy-rc.d ours=
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
    ours=yes
  fi
  apt_install "$@"
  [ -z "$ours" ] || as_root rm -f "$policy"
}

if [ -n "${1:-}" ]; then
  missing=()
  command -v redis-server >/dev/null || missing+=(redis-server)
  command -v memcached >/dev/null || missing+=(memcached)
  command -v etcd >/dev/null || missing+=(etcd-server)
  command -v etcdctl >/dev/null || missing+=(etcd-client)
  command -v promtool >/dev/null || missing+=(prometheus)
  command -v mariadb-backup >/dev/null || missing+=(mariadb-backup)
  command -v codespell >/dev/null || missing+=(codespell)
  command -v rpm >/dev/null || missing+=(rpm)
  [ ${#missing[@]} = 0 ] || quiet_install "${missing[@]}"
fi

# disks_plugin takes the plugin that tells how full a server's disks are out of the package of the whole server, which would
# start one of the machine's own.
disks_plugin() {
  local plugins work
  plugins=$(mariadbd --no-defaults --user="$(id -un)" --verbose --help 2>/dev/null | awk '$1 == "plugin-dir" { print $2 }')
  [ -n "$plugins" ] && [ ! -e "$plugins/disks.so" ] || return 0
  work=$(mktemp -d)
  say "taking disks.so out of mariadb-server"
  (
    cd "$work"
    again apt-get -qq -o APT::Sandbox::User=root download mariadb-server || { as_root apt-get -qq update && again apt-get -qq -o APT::Sandbox::User=root download mariadb-server; }
    dpkg-deb --fsys-tarfile mariadb-server_*.deb | tar -x --wildcards '*/plugin/disks.so'
    as_root install -D -m 644 -t "$plugins" "$(find . -name disks.so)"
  )
  rm -rf "$work"
}
if [ "${1:-}" = test ]; then
  disks_plugin
fi
if [ "${1:-}" = bench ] && ! command -v haproxy >/dev/null; then
  apt_install haproxy
fi
