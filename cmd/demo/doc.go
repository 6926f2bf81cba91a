// Package demo runs a whole cluster on one machine: database servers, etcd, proxies, the sample shop and a
// trickle of orders.
//
// It owns its data directory and every process that it starts. It ends the processes in order, also if a start
// fails half-way. It listens only on the addresses in its options. A real cluster needs nothing of it.
//
// # The data directory
//
//	lock               held while a demo runs here
//	engine             the engine of the shards' servers
//	s0/, s1/ …         a server each, see package dbserver
//	etcd/              the embedded etcd
//	secrets/           passwords, one file each
//	keys.yaml          the keys of order numbers
//	proxy-0.yaml …     the proxies' configurations, written at each start
//	proxy-0/ …         their own data
//	logs/              the output of the proxies
package demo
