#!/usr/bin/env bash
# Makes an authority and a certificate for each node of this example, in the
# directory that is named. Keep ca.key away from every node.
#   certificates.sh DIRECTORY/tls
set -euo pipefail
[ $# = 1 ] || { echo "usage: certificates.sh DIRECTORY" >&2; exit 2; }
umask 077
mkdir -p "$1"
cd "$1"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj "/CN=locus example" \
	-keyout ca.key -out ca.pem
issue() { # NAME ADDRESS
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.csr"
	openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 825 -out "$1.pem" \
		-extfile <(printf 'subjectAltName=IP:%s,DNS:%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$2" "$1")
	rm "$1.csr"
}
for i in 1 2 3; do
	issue "proxy-$i" "10.0.0.1$i"
	issue "etcd-$i" "10.0.0.2$i"
	issue "shard-$i" "10.0.0.3$i"
	issue "replica-$i" "10.0.0.4$i"
done
issue mover "10.0.0.14"
