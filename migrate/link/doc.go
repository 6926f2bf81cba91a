// Package link is a connection to one server that carries rows without changing
// a byte of them: text comes and goes as the column stores it, times are UTC, a
// zero stays a zero, and a value that does not fit is an error.
//
// It owns the login, the session's settings and the reading of results as raw
// text. It never builds a statement, never repeats one, and never pools: one
// connection is one goroutine's. A statement that was interrupted leaves the
// connection broken, and what became of it unknown: [Conn.Broken] tells.
package link
