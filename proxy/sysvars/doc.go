// Package sysvars is what a session has set and what can be asked about it: SET and the system variables, @@x and the functions
// that speak of the session, SHOW VARIABLES and SHOW STATUS, warnings and GET DIAGNOSTICS, and the changes that a client is told.
//
// It owns the table of variables (table.go), which says of each what the proxy does with it; the values that a session has set;
// the diagnostics of its last statement; and the texts that shards are asked or sent in place of the client's. It never talks to
// a client, lends no connection and knows no transaction: it asks one shard through [Shard], and what it decides, the session
// carries out.
package sysvars
