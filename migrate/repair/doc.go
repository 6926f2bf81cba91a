// Package repair makes one row of one server what another server has, where the two differ.
//
// It owns the transaction: what is locked, what is read again before anything is committed, what is
// written down of it, and where. It never decides whose row is right, nor which rows differ.
//
// # One row, in this order
//
//  1. A transaction begins at the server whose row loses. The job is held, so that a process
//     that has lost it changes nothing, and the row is locked.
//  2. The winner's row is read, once nobody is about to change it.
//  3. If the rows are the same, there is nothing to do. If one of them is not what was seen when somebody
//     decided, nothing is done: it changed meanwhile, and is to be looked at again.
//  4. The row is written, by the writer of the streams, and read back: unless it is the winner's
//     now, byte by byte, all is rolled back.
//  5. The winner's row is read again. Whoever deletes or changes it after that is in the log
//     behind what was written, so that its stream meets the row; had the stream come before it, a
//     deleted row would come back.
//  6. The commit, and with it a line in locus.move_repair with both rows.
//
// # Streams
//
// The line in locus.move_repair marks its transaction as a mover's: a stream drops the rows that
// follow it. Where the loser is not the row's owner it is the first write, so that nothing
// comes back to the owner. Where it is, it is the last one, and the stream carries the row on: whatever
// else is on its way from there comes in its order.
package repair
