// Package checksum compares the rows of moving genes on both servers while
// applications write them and the stream carries the writes over.
//
// It owns the walk, the checksums and the judgement on what differs. It never
// writes a row, and repairs nothing.
//
// A piece of a lane is compared by its number of rows and a checksum over the
// bytes of all of its values, which each server computes by itself. Where these
// differ the rows' own checksums are compared, and what still differs is read
// whole, with the stream in between: a row differs if the source has it unchanged
// before and after, the target has another when everything up to then is applied,
// and that is so twice. A row that never stands still is locked at the source until
// the target has it, for a second at the most.
//
// # What it sees
//
// A row that is missing or is too much, a byte, NULL against an empty value, texts
// that are equal by their collation, a trailing space, a negative zero on MySQL, the order
// of the keys in MariaDB's JSON, a generated column that another expression
// computes.
//
// # What it can't see
//
//   - Rows of a piece that collide in SHA-256, or whose checksums cancel out: of each
//     128 bits are kept.
//   - The padding that CHAR leaves out, and what is not a value of a row: indexes,
//     defaults, AUTO_INCREMENT's next number.
//   - Rows of other genes, and of tables that were not named.
//   - A row that never stands still while it is read, if the target is more than a
//     second behind: it is counted as unsettled.
//   - What happens after its piece was compared: it is kept fresh by being repeated.
package checksum
