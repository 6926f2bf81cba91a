// Package ptosc changes a sharded table by pt-online-schema-change: on one shard after the other while clients use the table through
// the proxy, and through the proxy, which refuses it.
package ptosc
