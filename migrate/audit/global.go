package audit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"locus/migrate/link"
	"locus/migrate/table"
	"locus/router"
	"locus/router/catalog"
)

// sum is a shard's checksum of all rows of a table.
type sum struct{ rows, high, low string }

// Number of repeated checks of a difference, and their interval. A write reaches one shard a moment before another.
const (
	again      = 3
	againAfter = 300 * time.Millisecond
)

// global compares a table on every shard with the first shard's.
func (a *audit) global(ctx context.Context, name catalog.TableName, d catalog.Declaration) error {
	var first *table.Table
	for _, shard := range a.Shards {
		c, err := a.conn(ctx, shard)
		if err != nil {
			return err
		}
		t, err := table.ReadGlobal(ctx, c, name, d, a.Map.Width())
		if err != nil {
			return fmt.Errorf("on %s: %w", shard, err)
		}
		if first == nil {
			first = t
		}
		f, err := a.compare(ctx, first, t, shard)
		if err != nil {
			return fmt.Errorf("on %s: %w", shard, err)
		}
		a.report(f)
	}
	return nil
}

func (a *audit) compare(ctx context.Context, first, t *table.Table, shard router.ShardName) (Finding, error) {
	f := Finding{Table: t.Name, Shard: shard, Kind: catalog.Global}
	if first.ReadList() != t.ReadList() {
		f.Wrong, f.What = 1, fmt.Sprintf("its columns are not those on %s", a.Shards[0])
		return f, nil
	}
	for try := 0; ; try++ {
		theirs, err := sumOf(ctx, a.conns[a.Shards[0]], first)
		if err != nil {
			return f, err
		}
		own, err := sumOf(ctx, a.conns[shard], t)
		if err != nil {
			return f, err
		}
		if _, err := fmt.Sscan(own.rows, &f.Rows); err != nil {
			return f, err
		}
		if own == theirs {
			return f, nil
		}
		if try >= again {
			break
		}
		select {
		case <-time.After(againAfter):
		case <-ctx.Done():
			return f, ctx.Err()
		}
	}
	return f, a.differing(ctx, first, shard, &f)
}

func sumOf(ctx context.Context, c *link.Conn, t *table.Table) (sum, error) {
	rows, err := c.Query(ctx, "SELECT COUNT(*), BIT_XOR(CAST(CONV(LEFT(d,16),16,10) AS UNSIGNED)), BIT_XOR(CAST(CONV(RIGHT(d,16),16,10) AS UNSIGNED))"+
		" FROM (SELECT "+t.Digest()+" AS d FROM "+t.SQL()+") all_rows")
	if err != nil {
		return sum{}, err
	}
	return sum{string(rows[0][0]), string(rows[0][1]), string(rows[0][2])}, nil
}

// mostDigests bounds the memory of the search for differing rows.
const mostDigests = 1_000_000

// differing finds the rows that differ.
func (a *audit) differing(ctx context.Context, t *table.Table, shard router.ShardName, f *Finding) error {
	theirs := map[string]string{}
	query := "SELECT " + t.KeyList() + "," + t.Digest() + " FROM " + t.SQL() + table.Limit(mostDigests)
	err := a.conns[a.Shards[0]].Each(ctx, query, func(values [][]byte) error {
		last := len(values) - 1
		theirs[string(table.Key(values[:last]).Encode())] = string(values[last])
		return nil
	})
	if err != nil {
		return err
	}
	var keys [][][]byte
	err = a.conns[shard].Each(ctx, query, func(values [][]byte) error {
		last := len(values) - 1
		id := string(table.Key(values[:last]).Encode())
		if other, there := theirs[id]; !there || other != string(values[last]) {
			keys = append(keys, values[:last])
		}
		delete(theirs, id)
		return nil
	})
	if err != nil {
		return err
	}
	for id := range theirs {
		k, err := table.DecodeKey([]byte(id), len(t.PrimaryKey))
		if err != nil {
			return err
		}
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b [][]byte) int { return slices.CompareFunc(a, b, slices.Compare[[]byte]) })
	if f.Wrong = uint64(len(keys)); f.Wrong > 0 {
		f.What = fmt.Sprintf("rows that are not as on %s, such as %s", a.Shards[0], spell(keys[:min(len(keys), named)]))
	}
	return nil
}
