#!/bin/sh
# Stops and disables the service before the package is removed; an upgrade does neither.
# dpkg calls it with remove, rpm with the number of packages that remain.
set -e

case "${1:-}" in
  remove | 0) ;;
  *) exit 0 ;;
esac

command -v systemctl >/dev/null || exit 0
if [ -d /run/systemd/system ]; then
  systemctl --no-reload disable --now locus.service
else
  systemctl disable locus.service # in an image, for example
fi
