// Package migrations has the tools that change schemas make, fill, alter and drop a sharded table through the proxy, which is declared
// where they say what a table is: in its comment.
package migrations
