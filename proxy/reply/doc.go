// Package reply writes what a client reads: a shard's answer as its bytes arrive, undecoded, and answers of the session's own.
//
// It owns the client's stream, what that client understands, and the number of the next packet. It never decides what is
// answered, never decodes a row, and knows nothing of statements, transactions and errors but those of the way.
package reply
