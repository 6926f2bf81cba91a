// Package observe records what a session does, for observers outside of it: the process list, slow statements, digests and
// durations, traces, and the statistics of genes and moves.
//
// It owns one [Session] per session. The session reports when commands and statements begin, wait, are sent, are answered and
// end. It never decides anything for a statement and never waits.
package observe
