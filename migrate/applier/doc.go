// Package applier writes the changes of a feed and the chunks of a copy to the
// server that rows move to, each exactly once.
//
// It owns the workers, each with one connection and one part of the moving genes,
// the order in which they write, and every decision on whether a row may be
// written. It never reads the source, never decides which genes move or when they
// change hands, and never deletes a row that the stream or a refused one does not
// name.
//
// # What holds
//
//   - A worker's position is in one transaction with the rows before it. After a
//     crash each worker goes on where it was.
//   - Changes of one primary key are written in the order of the stream: a part's
//     are one worker's. What can't be told apart by genes is one worker's whole.
//   - Where the table has a version column, a row that is newer at the target is
//     never overwritten. What is refused is counted and kept with both images.
//   - A row of genes that do not move is never touched, whatever its key.
//   - A chunk adds rows and changes none. See [Opening].
package applier
