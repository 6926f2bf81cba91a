// Package preflight checks, before a move, for everything that would make the move fail or lose data.
//
// It owns the checks, a plain list, and reports all failures at once, each with its remedy. It never changes
// anything, and never decides whether a move begins.
//
// It can't detect:
//
//   - the free space on the target's disks, which SQL does not show;
//   - rows whose owner and ID have different genes; the copy refuses them when it reads them;
//   - sessions that bypass the proxies and set binlog_format, binlog_row_value_options or sql_log_bin;
//     the stream refuses the first two, and the comparison finds the effects of the last;
//   - changes made after the check.
package preflight
