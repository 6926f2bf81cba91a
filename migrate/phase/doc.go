// Package phase is the state machine of a move: what a job has shown so far,
// what it does next, and which events it may see.
//
// It owns the order of the phases and the evidence for what a state claims: a
// share of the genes at the target implies a copy that is complete, a job that
// every proxy knows of, and a reverse stream with a recorded beginning. It never
// does anything itself: no connections, no clock, no logs. Whoever runs the job
// asks [State.Next], does that, and tells of the outcome by an [Event]; operators'
// commands are events too. Starting a job is resuming it from its first state.
package phase
