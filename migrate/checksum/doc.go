// Package checksum compares the rows of moving genes on both servers while applications write them and the stream
// transfers the writes.
//
// It owns the traversal, the checksums and the decision on what differs. It never writes a row and repairs nothing.
//
// A piece of a lane is compared by its row count and by a checksum over the bytes of all values, which each server
// computes itself. If these differ, the rows' own checksums are compared. Rows that still differ are read whole, with
// the stream in between. A row differs if the source has the same row before and after, the target has another one when
// everything up to then is applied, and that is seen repeatedly. A row that changes constantly is locked at the source
// until the target has it, for at most a second.
//
// # What it detects
//
// A missing or extra row, a different byte, NULL versus an empty value, texts equal only by collation, a trailing
// space, a negative zero on MySQL, the order of keys in MariaDB's JSON, a generated column with another expression.
//
// # What it can't detect
//
//   - Rows of a piece that collide in SHA-256, or whose checksums cancel out: 128 bits of each are kept.
//   - The padding that CHAR omits, and everything that isn't a row value: indexes, defaults, the next AUTO_INCREMENT
//     number.
//   - Rows of other genes, and of tables that were not named.
//   - A row that changes constantly while it is read, if the target lags by more than a second. It is counted as
//     unsettled.
//   - Changes after a piece was compared. Repeated comparison keeps the result current.
package checksum
