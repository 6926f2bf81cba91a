// Package observe records the activity of a session for observers outside of it: the process list, slow statements, digests
// and durations, traces, and the statistics of genes and moves.
//
// It owns one [Session] per session. The session reports when commands and statements begin, wait, are sent, are answered and
// end. The package never decides anything for a statement and never waits.
package observe
