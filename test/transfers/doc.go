// Package transfers transfers money between accounts on three shards through three proxies. It kills the proxies at every point of a
// commit, and a database server during one, and counts the money afterwards.
//
// It never looks into a proxy: it knows only what clients and servers see.
package transfers
