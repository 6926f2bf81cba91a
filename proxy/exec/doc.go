// Package exec carries a statement out on several shards: all are sent their parts before any answer is awaited. The answers are
// merged into one for the client (package scatter), gathered in a table (package gather), or added up.
//
// It owns that order, the texts that shards are sent in place of the client's, and what becomes of each connection. It never decides
// which shards take part, never begins or ends a transaction, and knows of the session only what [Statement] says.
package exec
