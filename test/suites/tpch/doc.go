// Package tpch runs TPC-H's 22 queries, Q15 with its view, over tables of its schema: with orders and their lines sharded and the
// rest global, and with all sharded that is large. Each must be answered as by one plain server. How fast they are is not asked.
package tpch
