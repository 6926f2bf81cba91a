// Package session serves one client: its commands, its prepared statements and
// its errors, from the login's end to the last byte.
//
// It owns the loop of commands, which way a planned statement takes, and what the client is
// told of what went wrong. It runs in one goroutine, that of [Serve]; only what says so may be
// called from others.
//
// It never decides where a statement goes (router/plan does), never sends one to its shards
// (proxy/exec does), never takes a connection from a pool or gives one back (proxy/txn does,
// and has the transaction), never watches the route map (it loads the snapshot once for each
// statement), never decodes the rows of a single shard's answer, and knows
// nothing of etcd or of moves.
package session
