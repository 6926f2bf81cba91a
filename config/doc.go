// Package config is the file of one process, locus.yaml: its fields, their
// defaults and what is wrong with them, and the look-up of secrets by name.
//
// It owns the file's format. It never dials, listens or writes, and it knows
// nothing of shards, tables or route maps: what a cluster shares is in etcd.
// [DecodeStrict] is offered to the documents of others because every YAML
// document of the product is read by the same rules: an unknown field is an
// error that names its line.
package config
