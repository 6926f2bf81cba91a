// Package observe notes what a session does, for those who look at it from outside: the process list, slow statements, digests
// and durations, traces, and how the genes and the moves fare.
//
// It owns, for each session, one [Session], which is told as commands and statements begin, wait, are sent, are answered and end.
// It never decides anything for a statement, and never waits.
package observe
