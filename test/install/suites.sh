#!/usr/bin/env bash
# Puts what other people's test suites need, see test/suites, into a directory
# outside this tree: LOCUS_SUITES_DIR, or else locus/suites in the user's cache.
# What is there is left alone; when all is there, it takes no time.
#
#   suites.sh [PART...]   only these of the parts below
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=test/install/apt.sh
. "$here/apt.sh"
suites=$(readlink -f "$here/../suites")
dir=${LOCUS_SUITES_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/locus/suites}
parts=(node)

# node: the npm packages of test/suites/node/package-lock.json, in node/.
install_node() {
  local to=$dir/node
  cmp -s "$suites/node/package-lock.json" "$to/installed" && return
  local missing=()
  command -v node >/dev/null || missing+=(nodejs)
  command -v npm >/dev/null || missing+=(npm)
  [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
  say "installing npm packages into $to"
  mkdir -p "$to"
  cp "$suites/node/package.json" "$suites/node/package-lock.json" "$to"
  # No package runs a script of its own while it is installed.
  (cd "$to" && again npm ci --silent --ignore-scripts --no-audit --no-fund)
  cp "$suites/node/package-lock.json" "$to/installed"
}

[ $# = 0 ] || parts=("$@")
mkdir -p "$dir"
# One of these at a time.
exec 9>"$dir/lock"
flock 9
for part in "${parts[@]}"; do
  declare -F "install_$part" >/dev/null || die "knows no part $part"
  "install_$part"
done
