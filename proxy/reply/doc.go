// Package reply writes what a client reads: shards' answers, relayed as their bytes arrive and undecoded, and the session's
// own answers.
//
// It owns the client's stream, the client's capabilities and the number of the next packet. It never decides what to answer
// and never decodes a row. It knows nothing of statements and transactions, and only the errors of relaying.
package reply
