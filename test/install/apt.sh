# shellcheck shell=bash
# What the scripts beside this one share; it is sourced.

say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }
die() { say "$*"; exit 1; }

# as_root runs a command as root, with the proxy settings that a download needs.
as_root() {
  local set=(DEBIAN_FRONTEND=noninteractive) name
  for name in http_proxy https_proxy no_proxy; do
    [ -z "${!name:-}" ] || set+=("$name=${!name}")
  done
  if [ "$(id -u)" = 0 ]; then
    env "${set[@]}" "$@"
  elif command -v sudo >/dev/null; then
    sudo env "${set[@]}" "$@"
  else
    die "needs root for: $*; run it as root, or install sudo"
  fi
}

# again tries a command that reaches out to the network up to three times.
again() {
  local try
  for try in 1 2 3; do
    "$@" && return
    say "attempt $try of 3 did not work: $*"
    sleep "$try"
  done
  return 1
}

# apt_install installs packages of the distribution.
apt_install() {
  command -v apt-get >/dev/null || die "only Debian and its relatives are known here; install by hand: $*"
  say "installing $*"
  again as_root apt-get -qq -o DPkg::Lock::Timeout=300 update
  again as_root apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@" >/dev/null
}
