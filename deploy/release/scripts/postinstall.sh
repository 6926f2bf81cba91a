#!/bin/sh
# Restarts a running service after an upgrade. The first installation starts nothing: the configuration names servers that the package
# does not know. dpkg calls it with configure and the earlier version, rpm with the number of installed packages.
set -e

case "${1:-}" in
  configure) previous=${2:-} ;;
  1) previous= ;;
  [2-9]) previous=yes ;;
  *) exit 0 ;;
esac

[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload || :
[ -n "$previous" ] || exit 0
# On Debian, the machine's policy decides whether packages may restart services.
if command -v deb-systemd-invoke >/dev/null; then
  deb-systemd-invoke try-restart locus.service
else
  systemctl try-restart locus.service
fi
