// Package series keeps figures of the last quarter of an hour, the last hour and the last day in memory: statements, errors, latency,
// connections and lag, of the cluster, of each shard and of each proxy.
//
// It owns which figures are kept, their interval and their number. It queries nobody, and its data end with the
// process. Prometheus serves longer periods.
package series
