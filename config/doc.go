// Package config is the file of one process, locus.yaml: its fields, their defaults and validation, and the look-up of
// secrets by name.
//
// It owns the file's format. It never dials, listens or writes. It knows nothing of shards, tables or route maps, since
// a cluster's shared state is in etcd. Unknown fields are errors that name their lines; see package strict.
package config
