// Package meter counts the cost of statements: how many concern each gene, the outcomes of those whose genes are
// moving, and which are slow.
//
// It owns the counters, the decay of old counts, and the reports. It never parses a statement and never contacts
// anybody; reports are made on request. It makes no judgement except which statements are slow.
//
// Counting is one atomic addition to an array allocated at the start. It takes no allocation and no lock, and two
// sessions contend only if their genes are neighbours.
package meter
