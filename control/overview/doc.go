// Package overview summarizes a cluster in one view: its etcd, proxies, shards, moves and statements, and which of
// these have problems.
//
// It owns what counts as a problem, its wording and its severity, for `locus status` and the page alike. It queries
// nobody; its caller provides the data.
package overview
