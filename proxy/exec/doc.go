// Package exec carries a statement out as its plan says: on one shard, whose answer goes to the client as it comes, on any of
// several that would answer alike, or on several. All of these are sent their parts before any answer is awaited, and the answers
// are merged into one for the client (package scatter), gathered in temporary tables (package gather), or added up.
//
// It owns the way of a statement to its shards and back, the texts that shards are sent in place of the client's, the temporary
// tables, and what becomes of each connection: what a statement has left there is read and carried on, or keeps the connection
// with the session. It never reads a command, never decides where a statement goes, and knows of the session only what
// [Environment] and [Work] say.
package exec
