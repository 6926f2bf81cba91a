// Package session serves one client from the end of its login to the last byte: its commands, prepared statements and errors.
//
// It owns the loop that reads commands. It has each statement planned and run, waits where a fence holds one, and writes the error
// that the client gets. It runs the plans that concern the session alone. A session runs in one goroutine, that of [Session.Serve].
// Only methods that are documented so may be called from other goroutines.
//
// It never decides where a statement goes (router/plan does), and never sends one to its shards (proxy/exec does). It never takes
// a connection from a pool or returns one (proxy/txn does, which also owns the transaction). It never watches the route map, but
// loads the snapshot once for each statement. It never decodes the rows of a single shard's answer, and doesn't know etcd or
// moves.
package session
