// Package transfers moves money between accounts on three shards, by way of three
// proxies that are killed at every point of a commit, and of a database server
// that is killed amid one; and counts the money afterwards.
//
// It owns the proxies' processes, which are the test's own binary run anew. It
// never looks into a proxy: what it knows, it knows from clients and servers.
package transfers
