// Package schema holds declared tables to the tables that the shards really
// have.
//
// It owns the questions to information_schema, in the words of MariaDB and of
// MySQL, and what must be equal on all shards. It never changes a schema, never
// decides what a declaration needs (package catalog does), and keeps no
// connection: it asks through a [Querier] that its caller lends.
package schema

import (
	"context"
)

// Querier runs statements with small results, one at a time.
type Querier interface {
	// Query gives the rows as the server's text; nil is NULL. An error names
	// the server.
	Query(ctx context.Context, sql string) (rows [][][]byte, err error)
}
