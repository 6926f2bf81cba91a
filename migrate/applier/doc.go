// Package applier writes the changes of a feed and the chunks of a copy to the server that receives the rows,
// each exactly once.
//
// It owns the workers, each with one connection and one part of the moving genes, the order of their writes,
// and every decision on whether a row may be written. It never reads the source. It never decides which genes
// move or when they change hands. It never deletes a row that neither the stream nor a refused row names.
//
// # Invariants
//
//   - A worker's position is in the same transaction as the rows before it. After a crash each worker
//     continues where it was.
//   - Changes of one key are written in the order of the stream, because one worker writes all of a part.
//     A table whose rows depend on each other across genes belongs to one worker as a whole.
//   - In a table with a version column, a newer row at the target is never overwritten. Refused changes are
//     counted and stored with both images.
//   - A row of genes that don't move is never touched, whatever its key.
//   - A chunk adds rows and changes none. See [Opening].
package applier
