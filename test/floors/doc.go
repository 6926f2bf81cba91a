// Package floors holds the architecture as a test: which package may import
// which, and which library belongs to one package alone. It reads the imports of
// the whole tree and says why one is refused. It has no code that ships.
package floors
