// Package generators opens the declared generators of a cluster and serves their numbers by name, for SQL and
// over HTTP.
//
// It owns the open generators, and the connections of each kind to etcd, Redis and memcached. It never declares
// a generator. It refuses undeclared names without a request, because the proxy has the declaration in memory.
package generators
