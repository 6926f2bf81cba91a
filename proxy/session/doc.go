// Package session serves one client: its commands, its transaction, its
// prepared statements and its errors, from the login's end to the last byte.
//
// It owns what MySQL calls the session: variables, the current database, the
// last insert ID, and which connections to shards are its own for the moment.
// Between transactions it has none. It runs in one goroutine, that of [Serve];
// only what says so may be called from others.
//
// It never decides where a statement goes (router/plan does), never watches the
// route map (it loads the world once for each statement), never decodes the
// rows of a single shard's answer, and knows nothing of etcd or of moves.
package session
