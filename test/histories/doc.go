// Package histories moves genes between shards while clients write, read and
// count by way of three proxies, and while proxies, movers, etcd and database
// servers are killed and stopped at every point of a step; and holds what the
// clients saw to what one server would have shown them.
//
// It owns the processes, which are the test's own binary run anew: what cmd/locus
// serves, with stop points. It never looks into a process: what it knows, it knows
// from clients, from etcd and from servers.
package histories
