// Package exec is the execution engine of a session. [Execution.Run] runs a statement according to its plan: on one shard, whose
// answer is relayed as it arrives, on any one of several shards that would answer alike, or on several. In the last case all shards
// are sent their parts before any answer is awaited. The answers are merged into one for the client (package scatter), gathered in
// temporary tables (package gather), or added up.
//
// The package owns the round trip of a statement to its shards, its admission by the fences, the texts that shards are sent instead
// of the client's, the temporary tables, and the answer to the client. It decides what happens to each connection afterwards: state
// that a statement has left there is read and carried to other connections, or the connection stays reserved for the session.
//
// It never reads a command, never plans a statement, and never writes an error to the client. It knows of the session only what
// [Config] contains.
package exec
