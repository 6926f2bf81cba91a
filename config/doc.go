// Package config is the file of one process, locus.yaml: its fields, their
// defaults and what is wrong with them, and the look-up of secrets by name.
//
// It owns the file's format. It never dials, listens or writes, and it knows
// nothing of shards, tables or route maps: what a cluster shares is in etcd.
// Fields that it does not know are errors that name their lines: see package strict.
package config
