// Package doctor checks what a cluster stands on and what no process tells by itself: etcd's space and clocks, the documents, keys, users,
// and on each shard the clock, the account's privileges, the settings of the log, room for connections, the tables and what was left
// behind. A run takes seconds. Package overview adds what is known at any moment.
//
// It owns the checks, a plain list, and returns for each finding its severity, what it is, where, and the remedy. It changes nothing in the
// cluster: the caller decides.
package doctor
