// Package snapshot contains the state that a statement is planned and run against: the route map, the tables, the plans and the
// accounts at one moment.
//
// It owns the rules for what an account may do with statements that are valid but expensive. A snapshot never changes; package
// proxy builds the next one.
package snapshot
