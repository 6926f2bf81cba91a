// Package link is a connection to one server that transfers rows without changing a byte. Text is transferred as the
// column stores it, times are UTC, a zero is stored as zero, and a value that doesn't fit is an error.
//
// It owns the login, the session's settings and the reading of results as raw text. It never builds a statement, never
// repeats one, and never pools: a connection belongs to one goroutine. A statement that was interrupted breaks the
// connection, and its effect is unknown; see [Conn.Broken].
package link
