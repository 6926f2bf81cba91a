// Package reply writes the answers that a client reads. These are the shards' answers, which it relays undecoded as their bytes arrive, and the
// session's own answers.
//
// It owns the client's stream, the client's capabilities and the number of the next packet. It never decides what to answer and never decodes a
// row. It knows nothing of statements and transactions, and of errors only those of relaying.
package reply
