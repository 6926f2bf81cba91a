#!/usr/bin/env bash
# Makes the passwords of this example, and the keys of its order numbers, in the
# directory where certificates.sh made tls/. Every proxy has all of it but etcd-root.
#   secrets.sh DIRECTORY
set -euo pipefail
[ $# = 1 ] || { echo "usage: secrets.sh DIRECTORY" >&2; exit 2; }
umask 077
cd "$1"
mkdir -p secrets/shards secrets/users
for name in etcd-root secrets/{etcd,http,http-vera,shards/s{0,1,2},shards/s{0,1,2}-admin,users/app}; do
	openssl rand -hex 16 > "$name"
done
cp tls/ca.pem secrets/shards/ca
printf 'current: 1\nkeys:\n  - version: 1\n    key: %s\n' "$(openssl rand -hex 32)" > keys.yaml
