// Package owned determines which of the two servers of a move owned a row at a position of its log.
//
// It owns the history of a move's steps, as bounds of both servers' logs, and the answer to whose a change is. It never
// reads a log and never changes the route map. The job's record stores what it needs, so that a restarted process gives
// the same answers.
package owned
