// Package phase is the state machine of a move: what a job has achieved, what it does next, and which events it
// accepts.
//
// It owns the order of the phases and the evidence for a state's claims. A share of the genes at the target implies a
// complete copy, a job known to every proxy, and a reverse stream with a recorded start. It never acts itself: it has
// no connections, no clock and no logs. The runner of a job asks [State.Next], does that, and reports the result as an
// [Event]. Operators' commands are events too. Starting a job is resuming it from its first state.
package phase
