package ops

import (
	"context"
	"strconv"

	"locus/control/jobs"
	"locus/migrate/link"
	"locus/router"
	"locus/router/catalog"
)

// TableSize is the size of a table on one shard, as its server estimates it.
type TableSize struct {
	Table       catalog.TableName
	Rows, Bytes int64
}

// mostSized bounds the tables of a shard.
const mostSized = 10000

// TableSizes returns the sizes of all tables of a shard, except those of the server and of the proxies.
func TableSizes(ctx context.Context, store *jobs.Store, shard router.ShardName) ([]TableSize, error) {
	server, err := store.Shard(ctx, shard)
	if err != nil {
		return nil, err
	}
	conn, err := link.Dial(ctx, server)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	rows, err := conn.Query(ctx, "SELECT TABLE_SCHEMA, TABLE_NAME, IFNULL(TABLE_ROWS, 0), IFNULL(DATA_LENGTH, 0) + IFNULL(INDEX_LENGTH, 0) FROM information_schema.TABLES"+
		" WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema', 'locus') ORDER BY 4 DESC LIMIT "+strconv.Itoa(mostSized))
	if err != nil {
		return nil, err
	}
	return tableSizes(rows)
}

func tableSizes(rows [][][]byte) (list []TableSize, err error) {
	for _, r := range rows {
		size := TableSize{Table: catalog.TableName{Schema: string(r[0]), Name: string(r[1])}}
		if size.Rows, err = strconv.ParseInt(string(r[2]), 10, 64); err != nil {
			return nil, err
		}
		if size.Bytes, err = strconv.ParseInt(string(r[3]), 10, 64); err != nil {
			return nil, err
		}
		list = append(list, size)
	}
	return list, nil
}
