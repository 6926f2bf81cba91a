package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"locus/migrate/copies"
	"locus/migrate/link"
	"locus/router/catalog"
)

// mostDiffering is the number of differing rows of a global table on a shard that are checked repeatedly.
// Further rows are only counted.
const mostDiffering = 1000

// global compares a table of every shard with the first one's.
func (a *audit) global(ctx context.Context, name catalog.TableName, d catalog.Declaration) error {
	first, err := a.conn(ctx, a.Shards[0])
	if err != nil {
		return err
	}
	for _, shard := range a.Shards {
		f := Finding{Table: name, Shard: shard, Kind: catalog.Global}
		if shard == a.Shards[0] {
			f.Rows, err = counted(ctx, first, name)
		} else {
			err = a.compare(ctx, first, d, &f)
		}
		if err != nil {
			return fmt.Errorf("on %s: %w", shard, err)
		}
		a.report(f)
	}
	return nil
}

func counted(ctx context.Context, c *link.Conn, name catalog.TableName) (uint64, error) {
	rows, err := c.Query(ctx, "SELECT COUNT(*) FROM "+link.Name(name.Schema)+"."+link.Name(name.Name))
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(string(rows[0][0]), 10, 64)
}

func (a *audit) compare(ctx context.Context, first *link.Conn, d catalog.Declaration, f *Finding) error {
	c, err := a.conn(ctx, f.Shard)
	if err != nil {
		return err
	}
	p, err := copies.Read(ctx, first, c, f.Table, d, a.Map.Width())
	switch _, misfits := errors.AsType[*copies.MisfitError](err); {
	case misfits:
		f.Wrong, f.What = 1, "its columns differ from those on "+string(a.Shards[0])
		return nil
	case err != nil:
		return err
	}
	found, err := p.Compare(ctx, mostDiffering)
	if err != nil {
		return err
	}
	f.Rows, f.Wrong = found.Rows, uint64(len(found.Keys)+found.Beyond+found.Unsettled)
	if f.Wrong == 0 {
		return nil
	}
	keys := make([][][]byte, len(found.Keys))
	for i, k := range found.Keys {
		keys[i] = k
	}
	slices.SortFunc(keys, func(a, b [][]byte) int { return slices.CompareFunc(a, b, slices.Compare[[]byte]) })
	f.What = "rows that differ from those on " + string(a.Shards[0])
	if len(keys) > 0 {
		f.What += ", such as " + spell(keys[:min(len(keys), named)])
	}
	if found.Unsettled > 0 {
		f.What += fmt.Sprintf("; %d were being written at each comparison", found.Unsettled)
	}
	return nil
}
