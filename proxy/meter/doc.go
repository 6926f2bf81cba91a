// Package meter counts the cost of statements: the number of statements on each gene, the outcomes of those whose genes are moving,
// and the slow ones.
//
// It owns the counters, the decay of old counts, and the reports. It never parses a statement and never opens a connection. Reports
// are made on request. It makes no judgement except which statements are slow.
//
// Counting is one atomic addition to an array that is allocated at the start. It takes no allocation and no lock, and two sessions
// contend only if their genes are neighbours.
package meter
