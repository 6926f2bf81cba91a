// Package meter counts what statements cost: how many concern each gene, how those
// fare whose genes are on the move, and which are slow.
//
// It owns the counters, how old counts fade, and the reports that are made of
// them. It never reads a statement, never says what is too much but for how slow is slow, and never talks
// to anybody: who asks for a report gets it.
//
// Counting is one atomic addition to an array that is there from the beginning:
// no allocation, no lock, and two sessions only meet where their genes are
// neighbours.
package meter
