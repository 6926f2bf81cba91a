// Package floors holds the architecture as a test: which package may import
// which, and which library belongs to one package alone. It reads the imports of
// the whole tree and says why one is refused. It has no code that ships.
//
// depguard and go-arch-lint do not replace it: they take lists of their own, and this package takes the layers that docs/internals/architecture.md
// draws, so that the drawing is true. It also refuses a package that no layer contains.
package floors
