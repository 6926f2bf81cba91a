// Package exec carries a statement out that takes more than one shard: all are sent their parts before any answer is awaited. The
// answers are merged into one for the client (package scatter), gathered in temporary tables (package gather), or added up.
//
// It owns that order, the texts that shards are sent in place of the client's, the temporary tables and what becomes of each
// connection. It never talks to the client, never decides which statement is carried out how, and knows of the session only what
// [Statement], [Session] and [Request] say.
package exec
