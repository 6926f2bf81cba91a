// Package plan decides how a statement is run: on which shards, with which text, and how the shards' answers are combined.
//
// It owns the rules of routing and every refusal that follows from them. A [Plan] is valid for all texts of one cache key and is
// immutable. [Read.Route] and [Change.Route] apply a plan to the values of one execution and to one route map. They take no lock
// and, for a single key, don't allocate. The package never opens a connection, never generates an ID, and never prints SQL from a
// syntax tree.
//
// The main rule: a statement is refused if its answer could differ from the answer of a single server that has the same rows.
package plan
