// Package moves tests the parts of a move together, between real servers of each
// engine: copy, stream, verification, crashes, conflicts. It has no code that
// ships.
package moves
