// Package schema compares declared tables with the tables that the shards really have.
//
// It owns the queries of information_schema, for MariaDB and for MySQL, and the rules for what must be equal on all shards. It never changes a
// schema, never decides what a declaration needs (package catalog does), and keeps no connection: it sends its queries through a [Querier] of
// its caller.
package schema

import (
	"context"
)

// Querier runs statements with small results, one after the other.
type Querier interface {
	// Query returns the rows in the server's text format; nil is NULL. An error names the server.
	Query(ctx context.Context, sql string) (rows [][][]byte, err error)
}

// Pipeliner is a Querier that sends several statements in one round trip.
type Pipeliner interface {
	Querier
	// QueryEach returns the rows of each statement, as Query does. After an error it returns none.
	QueryEach(ctx context.Context, statements []string) (rows [][][][]byte, err error)
}

// queryEach sends all statements in one round trip if the Querier can do that.
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
