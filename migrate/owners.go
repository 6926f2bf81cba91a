package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/migrate/audit"
	"locus/migrate/link"
	"locus/migrate/table"
	"locus/router"
	"locus/router/catalog"
)

// owners tracks the keys of an import's rows at the source, which nothing checked when they were written. It holds the keys that give no
// gene or contradictory genes since all rows were last looked at, and the highest sequence of their IDs. The streams report rows to it.
// Its methods may be called concurrently.
type owners struct {
	filler *filler // of tables that have the column which locus makes; nil: there are none

	mu      sync.Mutex // of what follows
	wrong   map[*table.Table]map[string]table.Key
	tooMany bool
	highest map[catalog.TableName]uint64
}

// mostWrong bounds how many rows are remembered.
const mostWrong = 10_000

// saw takes in a row that a stream has brought.
func (o *owners) saw(t *table.Table, r table.Row) {
	values := t.KeyValues(r)
	g, err := geneOf(t.Declared, values)
	if err == nil && t.Declared.MakesGene() {
		o.filler.saw(t, r, g)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.number(t.Declared, values)
	if err == nil {
		return
	}
	if o.wrong == nil {
		o.wrong = map[*table.Table]map[string]table.Key{}
	}
	if o.wrong[t] == nil {
		o.wrong[t] = map[string]table.Key{}
	}
	if o.tooMany = o.tooMany || len(o.wrong[t]) >= mostWrong; !o.tooMany {
		k := t.KeyOf(r)
		o.wrong[t][string(k.Encode())] = k
	}
}

// geneOf is the gene that a row's keys agree on. The column that locus makes says nothing before it is filled.
func geneOf(t *catalog.Table, values [][]byte) (gene.Gene, error) {
	if t.MakesGene() {
		return ownerGene(t, values)
	}
	return audit.GeneOf(t, values)
}

// number notes the sequence of a row's ID.
func (o *owners) number(t *catalog.Table, values [][]byte) {
	i := slices.IndexFunc(t.Keys, func(k catalog.Key) bool { return k.Role == catalog.ID })
	if i < 0 || values[i] == nil {
		return
	}
	var l orderid.Layout
	var id orderid.ID
	var err error
	if k := &t.Keys[i]; k.Column.IsInteger() {
		l = k.Layout
		id, err = l.Parse(string(values[i]))
	} else {
		l, id, err = k.Read(values[i])
	}
	if err != nil {
		return
	}
	if o.highest == nil {
		o.highest = map[catalog.TableName]uint64{}
	}
	o.highest[t.TableName] = max(o.highest[t.TableName], l.Sequence(id).Lo)
}

// lookAtAll looks at all rows of the source, and forgets what streams have told before.
func (o *owners) lookAtAll(ctx context.Context, source link.Server, shard router.ShardName, tables []*table.Table, rest func(context.Context) error) error {
	o.mu.Lock()
	o.wrong, o.tooMany = nil, false
	o.mu.Unlock()
	c, err := link.Dial(ctx, source)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, t := range tables {
		rows := audit.Rows{Conn: c, Table: t.Declared.ByOwner(), Walk: t, Shard: shard, Seen: func(values [][]byte) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.number(t.Declared, values)
		}}
		seen, err := rows.Look(ctx)
		if err != nil {
			return fmt.Errorf("look at the keys of table %s: %w", t.Name, err)
		}
		if n, what := seen.Wrong(gene.Set{}); n > 0 {
			return &misfitsError{fmt.Sprintf("table %s: %s", t.Name, what)}
		}
	}
	if o.filler == nil {
		return nil
	}
	return o.filler.all(ctx, rest)
}

// misfitsError is rows that would not be found once their table is sharded.
type misfitsError struct{ what string }

func (e *misfitsError) Error() string { return e.what }

const misfitsRemedy = "correct the rows' owners or IDs"

// stillWrong looks again at the rows that streams have told of.
func (o *owners) stillWrong(ctx context.Context, c *link.Conn) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.tooMany {
		return &misfitsError{fmt.Sprintf("more than %d rows were written whose keys are of no gene or of different ones", mostWrong)}
	}
	for _, t := range slices.Collect(maps.Keys(o.wrong)) {
		keys := slices.Collect(maps.Values(o.wrong[t]))
		still := map[string]table.Key{}
		for some := range slices.Chunk(keys, 200) {
			query := string(t.AppendKeyIn([]byte("SELECT "+t.ReadList()+" FROM "+t.SQL()+" WHERE "), some))
			err := c.Each(ctx, query, func(values [][]byte) error {
				r, err := t.Canonical(values)
				if err != nil {
					return err
				}
				if _, wrong := geneOf(t.Declared, t.KeyValues(r)); wrong != nil {
					k := t.KeyOf(r)
					still[string(k.Encode())] = k
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		o.wrong[t] = still
		for _, k := range still {
			return &misfitsError{fmt.Sprintf("table %s: %d rows have keys of no gene or of different ones, such as %q", t.Name, len(still), k)}
		}
	}
	return nil
}

// numbered is a declaration whose sequences go on above those of the rows that are there.
func (o *owners) numbered(tables map[catalog.TableName]catalog.Declaration) map[catalog.TableName]catalog.Declaration {
	o.mu.Lock()
	defer o.mu.Unlock()
	next := maps.Clone(tables)
	for name, d := range tables {
		if highest := o.highest[name]; d.ID != nil && highest > 0 {
			id := *d.ID
			id.Segments.Start = max(id.Segments.Start, highest+1)
			d.ID = &id
			next[name] = d
		}
	}
	return next
}
