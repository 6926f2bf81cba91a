// Package owned determines which of the two servers of a job owned a row at a position of its log.
//
// It owns the history of a job's steps, as bounds of both servers' logs, and decides whether a change is the owner's. It never
// reads a log and never changes the route map. The job's record stores the state that it needs, so that a restarted process
// gives the same answers.
package owned
