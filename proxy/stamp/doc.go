// Package stamp adds generated values to the rows of an INSERT or REPLACE: the ID, the order number, the gene and the
// first version. It edits the text by cutting and inserting, and splits the rows by owning shard.
//
// It owns the rules for which values are generated and what given values must agree with. It never prints a statement
// from a syntax tree, so the client's text is preserved. It never issues an ID itself, never decides where a gene
// lives, and never contacts a server.
package stamp
