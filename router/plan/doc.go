// Package plan decides what is done with a statement: on which shards it runs,
// with which text, and how the answers become one.
//
// It owns the rules of routing and every refusal that follows from them. A
// [Plan] holds for all texts of one key and is immutable; [Read.Route] and [Change.Route] apply
// it to the values of one execution and to one route map, without a lock and,
// for a single key, without an allocation. It never opens a connection, never
// generates an ID and never prints SQL from a syntax tree.
//
// The rule above all: a statement whose answer could differ from the one that a
// single server with the same rows would give is refused.
package plan
