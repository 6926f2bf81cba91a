#!/usr/bin/env bash
# Once, when all three nodes run: an account root, one for locus that reaches the
# keys of its cluster alone, and no access without an account. The passwords are
# read from standard input by etcdctl, not from its arguments.
#   ETCDCTL_ENDPOINTS=… ETCDCTL_CACERT=… ETCDCTL_CERT=… ETCDCTL_KEY=… etcd-accounts.sh ROOT-PASSWORD-FILE LOCUS-PASSWORD-FILE
set -euo pipefail
[ $# = 2 ] || { echo "usage: etcd-accounts.sh ROOT-PASSWORD-FILE LOCUS-PASSWORD-FILE" >&2; exit 2; }
export ETCDCTL_API=3
etcdctl user add root --interactive=false < "$1"
etcdctl user grant-role root root
etcdctl role add locus
etcdctl role grant-permission locus --prefix=true readwrite /locus/main/
etcdctl user add locus --interactive=false < "$2"
etcdctl user grant-role locus locus
etcdctl auth enable
