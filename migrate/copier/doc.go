// Package copier reads the rows of moving genes at the source, in chunks, while
// applications go on writing them.
//
// It owns the walk along the lanes, how large a chunk is, and how many are on
// their way. It never writes: each chunk is given to a [Lander], whose package
// says why no row comes back that was deleted. It never decides where a lane
// begins or ends, and takes no locks at the source.
//
// A lane's chunks follow each other, and the lander writes how far it is together
// with the rows; so resuming is to begin each lane where its checkpoint says.
package copier
