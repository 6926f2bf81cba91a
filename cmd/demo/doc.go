// Package demo runs everything on one machine: database servers, etcd, proxies,
// the sample shop and a trickle of orders.
//
// It owns what is in its data directory and every process that it starts, and
// ends all of them in order, also when a start fails half-way. It never listens
// beyond what its options say, and nothing of it is needed to run a cluster.
//
// # The data directory
//
//	lock               held while a demo runs here
//	engine             which database servers the shards are
//	s0/, s1/ …         a server each, see package dbserver
//	etcd/              the embedded etcd
//	secrets/           passwords, one file each
//	keys.yaml          the keys of order numbers
//	proxy-0.yaml …     the proxies' configurations, written at each start
//	proxy-0/ …         their own data
//	logs/              what the proxies say
package demo
