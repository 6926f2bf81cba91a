// Package console is what a process shows over HTTP: health, metrics and a
// page of its state.
//
// It owns the handlers and the names of the metrics. It reads states and never
// changes anything; whoever may see more than health logs in.
package console
