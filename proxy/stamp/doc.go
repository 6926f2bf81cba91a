// Package stamp puts generated values into the rows of an INSERT or REPLACE: the
// ID, the order number, the gene, the first version. It works on the text alone,
// by cutting and inserting, and splits the rows by the shard that owns them.
//
// It owns the rules of which value is generated and what a given one must agree
// with. It never prints a statement from a syntax tree, so what a client wrote
// arrives as it was written; it never issues an ID itself, never decides where a
// gene lives and never talks to a server.
package stamp
