// Package fence says by which version of the route map a session's statements run while genes change hands.
//
// It owns, for each session, one [Gate]: the oldest map by which something of the session is under way, and the genes that this
// concerns; whether a statement is let on, or held until another map is in force; and whether a fence preempts the session's
// transaction. Those who acknowledge a map ask it from other goroutines. It never routes a statement, never runs one again, and
// never rolls back: it tells the session when to.
package fence
