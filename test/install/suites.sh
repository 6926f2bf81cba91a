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
parts=(node mysqljs mtr)

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

# mtr: MariaDB's own suite, of the version of the server that is installed, in
# mtr/. Its packages are unpacked, not installed: they would bring a server that
# is started.
install_mtr() {
  local to=$dir/mtr version packages=(mariadb-test mariadb-test-data) package
  version=$(dpkg-query -W -f '${Version}' mariadb-server-core 2>/dev/null) || die "install MariaDB first: $here/servers.sh"
  [ "$(cat "$to/installed" 2>/dev/null)" != "$version" ] || return 0
  say "unpacking MariaDB's test suite into $to"
  rm -rf "$to.new" "$to"
  mkdir -p "$to.new"
  (
    cd "$to.new"
    for package in "${packages[@]}"; do
      # Lists that are older than the mirror's packages are the usual reason.
      apt-get -qq -o APT::Sandbox::User=root download "$package=$version" || { as_root apt-get -qq update && again apt-get -qq -o APT::Sandbox::User=root download "$package=$version"; }
    done
    apt-get -qq -o APT::Sandbox::User=root download libpcre2-posix3
    for package in *.deb; do dpkg -x "$package" .; done
    rm -- *.deb
  )
  printf %s "$version" >"$to.new/installed"
  mv -T "$to.new" "$to"
}

# mysqljs: the tests of mysql, the npm package, which has none in it: those of
# the distribution's source package, in mysqljs/.
install_mysqljs() {
  local to=$dir/mysqljs work uri file sum
  [ -e "$to/test" ] && return
  install_node
  say "fetching the tests of mysql into $to"
  work=$(mktemp -d)
  mkdir -p "$work/lists/partial" "$work/parts"
  # The sources of the distribution that this machine takes packages from.
  (. /etc/os-release && apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) main' \
    'Created-By: Packages' 'Component: main' "Codename: $VERSION_CODENAME") | sort -u >"$work/parts/source.list"
  local own=(-qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/parts" -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache")
  again as_root apt-get "${own[@]}" update
  read -r uri file sum < <(apt-get "${own[@]}" --print-uris --download-only source node-mysql | awk '$2 ~ /orig\.tar/ { gsub("\047", "", $1); print $1, $2, $4 }')
  [ -n "${uri:-}" ] || die "no source package of node-mysql is known here"
  again as_root /usr/lib/apt/apt-helper download-file "$uri" "$work/$file" "$sum"
  mkdir -p "$work/mysql"
  tar -xf "$work/$file" -C "$work/mysql" --strip-components=1
  # The library beside its tests is the one from npm, whose version they are of.
  rm -rf "$to"
  mkdir -p "$to"
  cp -r "$work/mysql/test" "$work/mysql/package.json" "$to"
  cp -r "$dir/node/node_modules/mysql/lib" "$dir/node/node_modules/mysql/index.js" "$to"
  rm -rf "$work"
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
