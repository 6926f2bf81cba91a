// Package preflight looks, before a move, for everything that would make it fail
// or lose something.
//
// It owns the checks, a plain list, and reports all failures at once, each with
// its remedy. It never changes anything, and never decides whether a move begins.
//
// What it can't see: the free space on the target's disks, which SQL does not
// tell; rows whose owner and ID are of different genes, which the copy refuses
// when it meets them; sessions past the proxies that set binlog_format,
// binlog_row_value_options or sql_log_bin for themselves, of which the stream
// refuses the first two and the comparison finds the last; and what is changed after it looked.
package preflight
