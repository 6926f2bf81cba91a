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

// Pipeliner is a Querier that sends several statements in one round trip.
type Pipeliner interface {
	Querier
	// QueryEach gives the rows of each statement, as Query does. After an error there are none.
	QueryEach(ctx context.Context, statements []string) (rows [][][][]byte, err error)
}

// queryEach asks all statements at once if the Querier can.
func queryEach(ctx context.Context, q Querier, statements []string) (answers [][][][]byte, err error) {
	if p, can := q.(Pipeliner); can {
		return p.QueryEach(ctx, statements)
	}
	for _, sql := range statements {
		rows, err := q.Query(ctx, sql)
		if err != nil {
			return nil, err
		}
		answers = append(answers, rows)
	}
	return answers, nil
}
