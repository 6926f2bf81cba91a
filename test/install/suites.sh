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
parts=(browser node mysqljs mtr pymysql mysqlclient sqlalchemy peewee django php eloquent doctrine perl dbixclass ruby sequel java sysbench mydumper ptosc wordpress mediawiki ghost installers)

# node: the npm packages of test/suites/node/package-lock.json, in node/.
install_node() { install_npm "$suites/node" "$dir/node"; }

# browser: Chromium, and what looks for barriers on pages, in axe/.
install_browser() {
  packages chromium
  install_npm "$suites/../demo/axe" "$dir/axe"
}

# install_npm installs what a package-lock.json has.
install_npm() {
  local from=$1 to=$2
  cmp -s "$from/package-lock.json" "$to/installed" && return
  local missing=()
  command -v node >/dev/null || missing+=(nodejs)
  command -v npm >/dev/null || missing+=(npm)
  [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
  say "installing npm packages into $to"
  mkdir -p "$to"
  cp "$from/package.json" "$from/package-lock.json" "$to"
  # No package runs a script of its own while it is installed.
  (cd "$to" && again npm ci --silent --ignore-scripts --no-audit --no-fund)
  cp "$from/package-lock.json" "$to/installed"
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

# packages installs those of the distribution's packages that are missing.
packages() {
  local package missing=()
  for package; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
}

# archive is where this machine takes the distribution's packages from.
archive() {
  local codename
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' "Codename: $codename" |
    sort -u | head -n 1 | grep . || die "apt knows no archive of $codename: apt-get update"
}

# upstream RELEASE PACKAGE NAME [PATH...] unpacks what upstream released of a
# Debian source package, or only those paths of it, into NAME/: drivers' tests are
# in no binary package.
upstream() {
  local release=$1 package=$2 to=$dir/$3; shift 3
  [ ! -e "$to/installed" ] || return 0
  packages dpkg-dev debian-archive-keyring
  say "unpacking the source of $package into $to"
  local apt=$dir/apt/$release paths=("${@/#/*\/}")
  mkdir -p "$apt/lists/partial"
  rm -rf "$to" "$apt/sources"
  mkdir "$apt/sources" "$to"
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(archive) $release main" >"$apt/list"
  # Lists of its own: the machine's stay as they are, and root is not needed.
  local own=(-qq -o Dir::Etc::sourcelist="$apt/list" -o Dir::Etc::sourceparts=/dev/null
    -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt" -o APT::Sandbox::User=)
  again apt-get "${own[@]}" update
  (cd "$apt/sources" && again apt-get "${own[@]}" source --tar-only "$package" >/dev/null)
  tar -xf "$apt/sources/"*.orig.tar.?z -C "$to" --strip-components=1 --wildcards "${paths[@]}"
  rm -rf "$apt/sources"
  touch "$to/installed"
}

install_pymysql() {
  packages python3-pytest python3-cryptography python3-pymysql
  upstream trixie python-pymysql pymysql
}

install_mysqlclient() {
  packages python3-pytest python3-mock python3-mysqldb
  upstream bookworm python-mysqldb mysqlclient
}

install_peewee() {
  packages python3-pytest python3-pymysql
  upstream bookworm peewee peewee
}

install_sqlalchemy() { packages python3-pytest python3-sqlalchemy python3-pymysql python3-mysqldb; }

install_django() {
  packages python3-mysqldb python3-asgiref python3-sqlparse python3-tz
  upstream bookworm python-django django
}

install_php() {
  packages php-cli php-mysql
  upstream bookworm php8.2 php run-tests.php ext/pdo/tests ext/pdo_mysql/tests ext/mysqli/tests
}

install_eloquent() { packages php-cli php-mysql php-illuminate-database; }

install_doctrine() { packages php-cli php-mysql php-doctrine-orm; }

install_perl() {
  packages libdbd-mysql-perl libdbd-mariadb-perl libtest-deep-perl
  upstream bookworm libdbd-mysql-perl dbd-mysql
  upstream bookworm libdbd-mariadb-perl dbd-mariadb
}

install_dbixclass() { packages libdbd-mysql-perl libdbix-class-perl libsql-translator-perl; }

install_ruby() {
  packages ruby-mysql2 ruby-activerecord ruby-actionpack ruby-bcrypt ruby-byebug
  upstream bookworm rails rails activerecord
}

install_sequel() { packages ruby-mysql2 ruby-sequel; }

install_java() {
  packages default-jdk-headless libmariadb-java junit4 libhamcrest-java libjna-java
  upstream bookworm mariadb-connector-java connector-j src/test
}

install_sysbench() { packages sysbench; }

install_mydumper() { packages mydumper; }

# candidates are the packages' versions that would be installed.
candidates() { apt-cache policy "$@" | awk '/^[^ ]/ { name = $1 } $1 == "Candidate:" && $2 != "(none)" { print name $2 }'; }

# unpacked NAME PACKAGE... unpacks packages of the distribution into NAME/, without
# what they depend on: applications would bring a web server that is started.
unpacked() {
  local to=$dir/$1 versions; shift
  versions=$(candidates "$@")
  if [ -z "$versions" ]; then # the machine has no lists yet
    again as_root apt-get -qq update
    versions=$(candidates "$@")
    [ -n "$versions" ] || die "the distribution has none of: $*"
  fi
  [ "$(cat "$to/installed" 2>/dev/null)" != "$versions" ] || return 0
  say "unpacking $* into $to"
  rm -rf "$to.new" "$to"
  mkdir -p "$to.new"
  (
    cd "$to.new"
    # Lists that are older than the mirror's packages are the usual reason.
    apt-get -qq -o APT::Sandbox::User=root download "$@" || { as_root apt-get -qq update && again apt-get -qq -o APT::Sandbox::User=root download "$@"; }
    local package
    for package in *.deb; do dpkg -x "$package" .; done
    rm -- *.deb
  )
  printf %s "$versions" >"$to.new/installed"
  mv -T "$to.new" "$to"
}

# Time stands still for the applications: what they write is compared.
install_wordpress() {
  packages php-cli php-mysql php-xml php-mbstring faketime
  unpacked wordpress wordpress wordpress-theme-twentytwentythree php-getid3
}

install_mediawiki() {
  packages php-cli php-mysql php-xml php-mbstring php-intl faketime
  unpacked mediawiki mediawiki mediawiki-classes
}

# installers: the packages of programs whose tables are made by files of SQL.
install_installers() { unpacked installers kea-admin roundcube-core roundcube-mysql bacula-director-mysql zabbix-server-mysql; }

# ptosc: pt-online-schema-change.
install_ptosc() { packages percona-toolkit; }

# ghost: Ghost's own package, unpacked as its own command does it, and what it needs within: some of that is in the package.
install_ghost() {
  local to=$dir/ghost version=5.130.4 mark missing=()
  mark="$version with what it resolves"
  [ "$(cat "$to/installed" 2>/dev/null)" != "$mark" ] || return 0
  command -v node >/dev/null || missing+=(nodejs)
  command -v npm >/dev/null || missing+=(npm)
  [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
  say "installing Ghost into $to"
  rm -rf "$to.new" "$to"
  mkdir -p "$to.new"
  (
    cd "$to.new"
    again npm pack --silent "ghost@$version" >/dev/null
    tar -xzf ghost-*.tgz --strip-components=1
    rm -- ghost-*.tgz
    # Some of what its developers need is in no registry. The versions that it resolves to for everybody below it are named for another
    # program: without them there are two of moment, and comments can't be saved.
    node -e 'const p = require("./package.json"); delete p.devDependencies; p.overrides = p.resolutions; fs.writeFileSync("package.json", JSON.stringify(p, null, 2))'
    # No package runs a script of its own while it is installed.
    again npm install --silent --omit=dev --legacy-peer-deps --ignore-scripts --no-audit --no-fund
  )
  printf %s "$mark" >"$to.new/installed"
  mv "$to.new" "$to"
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
