// Package snapshot is what a statement is planned and run against: the route map, the tables, the plans and the accounts of one
// moment.
//
// It owns what an account may do with a statement that is allowed and dear. It never changes: package proxy builds the next one.
package snapshot
