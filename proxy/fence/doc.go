// Package fence decides under which version of the route map a session's statements run while genes change hands.
//
// It owns one [Gate] per session. The Gate tracks the oldest map under which something of the session still runs, and the genes
// concerned. It decides whether a statement is admitted, or held until another map is in force, and whether a fence preempts
// the session's transaction. Goroutines that acknowledge a map query it. It never routes a statement, never runs one again, and
// never rolls back: it tells the session when to.
package fence
