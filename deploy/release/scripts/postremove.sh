#!/bin/sh
# Removes the service's own state when the package is purged. Keys, certificates and passwords in /etc/locus, and the user that may own
# them, remain. dpkg calls it with remove or purge, rpm with the number of packages that remain; rpm has no purge.
set -e

case "${1:-}" in
  purge) rm -rf /var/lib/locus ;;
  remove | 0) ;;
  *) exit 0 ;;
esac

[ ! -d /run/systemd/system ] || systemctl daemon-reload || :
