// Package sysvars contains what a session has set, and answers questions about it. That covers SET and the system variables, @@x and the
// functions about the session, SHOW VARIABLES and SHOW STATUS. It also covers warnings, GET DIAGNOSTICS and session tracking.
//
// It owns the table of variables (table.go), which determines how the proxy handles each of them. It owns the values that a session has set, and
// the diagnostics of the session's last statement. It writes the texts that shards are sent in place of the client's. It never communicates with
// a client, lends no connection and knows no transaction. It asks one shard through [Shard], and the session carries out its decisions.
package sysvars
