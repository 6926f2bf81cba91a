// Package repair makes one row of one server equal to the row of another server, where the two differ.
//
// It owns the transaction: what is locked, what is read again before the commit, and what is recorded where. It
// never decides whose row is right, nor which rows differ.
//
// # The order for one row
//
//  1. A transaction begins on the server whose row loses. It locks the job's position, so that a process
//     that has lost the job changes nothing, and it locks the row.
//  2. The winner's row is read with a lock, so that no transaction is changing it.
//  3. If the rows are equal, nothing is done. If one of them is not the row that the operator saw, it has
//     changed since. Nothing is done, and the row is listed again.
//  4. The row is written by the same code as in the streams, and read back. Unless it equals the winner's
//     byte by byte, everything is rolled back.
//  5. The winner's row is read again. A client that deletes or changes it after that is in the log after
//     our write, so the stream finds the row. If the stream had come before our write, a deleted row
//     would come back.
//  6. The commit. It includes a line in locus.move_repair with both rows.
//
// # Streams
//
// The line in locus.move_repair marks its transaction as a mover's. A stream drops the rows that follow the
// line in the same transaction. If the loser does not own the row, the line is the first write, so that the
// stream carries nothing back to the owner. If the loser owns the row, the line is the last write, and the
// stream carries the row on, in order with the other changes from there.
package repair
