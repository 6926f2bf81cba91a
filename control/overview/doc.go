// Package overview is how a cluster is, in one view: its etcd, proxies, shards, moves and
// statements, and which of these is not well.
//
// It owns what counts as not well, in which words and in which order of gravity, for
// `locus status` and the page alike. It never asks anybody: who looks hands over what was
// seen.
package overview
