// Package floors tests the architecture: which package may import which, and which library belongs to one package alone. It
// reads the imports of the whole tree and reports why one is refused. It contains no code that ships.
//
// depguard and go-arch-lint do not replace it: they have lists of their own, and this package reads the layers from the
// drawing in the documentation.
package floors
