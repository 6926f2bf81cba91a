// Package series keeps figures of the last quarter of an hour and of the last hour in
// memory: statements, errors, latency, connections and lag, of the cluster, of each shard
// and of each proxy.
//
// It owns which figures are kept, how far apart and how many. It never asks anybody, and
// what it keeps ends with the process: Prometheus is for longer.
package series
