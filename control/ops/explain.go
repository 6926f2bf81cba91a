package ops

import (
	"context"
	"fmt"

	"locus/control/jobs"
	"locus/migrate/link"
	"locus/router"
)

// explained contains the columns of EXPLAIN by their number, because link returns no column names. MariaDB and MySQL have
// different numbers.
var explained = map[int][]string{
	10: {"id", "select_type", "table", "type", "possible_keys", "key", "key_len", "ref", "rows", "Extra"},
	12: {"id", "select_type", "table", "partitions", "type", "possible_keys", "key", "key_len", "ref", "rows", "filtered", "Extra"},
}

// ServerPlan is a server's answer to EXPLAIN.
type ServerPlan struct {
	Columns []string
	Rows    [][]string // NULL is an empty text
}

// ExplainOn returns the plan that the primary of a shard has for a statement. The statement does not run. A read is explained in a
// transaction that may change nothing, because servers compute constant expressions, with the functions in them.
func ExplainOn(ctx context.Context, store *jobs.Store, shard router.ShardName, database, sql string, reads bool) (ServerPlan, error) {
	server, err := store.Shard(ctx, shard)
	if err != nil {
		return ServerPlan{}, err
	}
	conn, err := link.Dial(ctx, server)
	if err != nil {
		return ServerPlan{}, err
	}
	defer conn.Close()
	var first []string
	if database != "" {
		first = append(first, "USE "+link.Name(database))
	}
	if reads {
		first = append(first, "START TRANSACTION READ ONLY")
	} else {
		first = append(first, "START TRANSACTION") // a server may run a function to plan the change; closing the connection rolls back
	}
	for _, text := range first {
		if _, err := conn.Exec(ctx, text); err != nil {
			return ServerPlan{}, err
		}
	}
	rows, err := conn.Query(ctx, "EXPLAIN "+sql)
	if err != nil {
		return ServerPlan{}, err
	}
	return serverPlan(rows)
}

func serverPlan(rows [][][]byte) (p ServerPlan, err error) {
	for _, row := range rows {
		if p.Columns = explained[len(row)]; p.Columns == nil {
			return p, fmt.Errorf("the server answers EXPLAIN with %d columns, which are not known", len(row))
		}
		line := make([]string, len(row))
		for i, value := range row {
			line[i] = string(value)
		}
		p.Rows = append(p.Rows, line)
	}
	return p, nil
}
