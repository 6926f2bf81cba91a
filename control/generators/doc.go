// Package generators makes the declared generators of a cluster and answers by
// name, for SQL and over HTTP.
//
// It owns the generators that are open, and the wiring of each kind to etcd,
// Redis and memcached. It never declares one: a name that is not declared is
// refused from memory, since the declaration is what the proxy has of etcd.
package generators
