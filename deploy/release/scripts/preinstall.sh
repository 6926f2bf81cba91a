#!/bin/sh
# Creates the user of the service before the files are unpacked, because some of them belong to its group.
# dpkg calls it with install or upgrade, rpm with the number of installed packages afterwards.
set -e

case "${1:-}" in
  install | upgrade | [1-9]) ;;
  *) exit 0 ;;
esac

getent group locus >/dev/null || groupadd --system locus
getent passwd locus >/dev/null ||
  useradd --system --gid locus --home-dir /var/lib/locus --no-create-home --shell /usr/sbin/nologin --comment "locus" locus
