// Package cutover is one step of a cut-over: the order in which genes change
// hands, and what undoes it.
//
// It owns the order. Where others lost rows was the order: a position that was
// read before the last write, a reverse stream that began after the first one,
// a half that was left when something died. It never says how anything is done:
// every line of the order is a function of its caller's, and a named stop point
// for tests.
package cutover
