// Package doctor checks the infrastructure of a cluster, and what no process reports by itself: etcd's space
// and clocks, the documents, keys, users, and on each shard the clock, the account's privileges, the settings
// of the log, the limit of connections, the tables and the leftovers of moves. A run takes seconds. Package
// overview adds what is known at any moment.
//
// It owns the list of checks. For each finding it returns the severity, the problem, the place, and the remedy.
// It changes nothing in the cluster: the caller decides.
package doctor
