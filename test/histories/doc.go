// Package histories moves genes between shards while clients write, read and count through three proxies. Meanwhile proxies, movers, etcd
// and database servers are killed and suspended at every point of a step. It compares what the clients saw with what one server would have
// shown them.
//
// Its clusters are those of test/cluster. It never looks into a process: it knows only what clients, etcd and the servers show.
package histories
