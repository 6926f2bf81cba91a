// Package copier reads the rows of moving genes at the source in chunks, while applications keep writing them.
//
// It owns the traversal of the lanes, the size of chunks, and how many are in progress. It never writes. Each chunk is
// passed to a [Lander], whose package explains why no deleted row comes back. It never decides where a lane begins or
// ends. It locks rows at the source only if foreign keys change them again and again.
//
// A chunk is read once the source shows everything that the stream has brought. See [changes.WaitShown].
//
// A lane's chunks follow each other, and the lander records the lane's progress together with the rows. So to resume,
// each lane starts at its checkpoint.
package copier
