// Package cutover is one step of a cut-over: the order in which genes change hands, and how it is undone.
//
// It owns the order, since wrong orders are how others have lost rows: a position read before the last write, a reverse
// stream started after the first one, a partial change left behind by a crash. It never defines how a line of the order
// is done. Each line is a function of the caller, with a named stop point for tests.
package cutover
