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

// owners tracks the keys of an import's rows at the source. Nothing checked these keys when they were written.
// It holds the rows whose keys give no gene or contradictory genes, collected since all rows were last checked,
// and the highest sequence of their IDs. The streams report rows to it. Its methods may be called concurrently.
type owners struct {
	filler *filler // for tables whose gene column the job adds; nil if there are none
	homes  audit.Homes
	here   link.Server // the source

	mu      sync.Mutex // guards the following fields
	wrong   map[*table.Table]map[string]table.Key
	tooMany bool
	highest map[catalog.TableName]uint64
}

// mostWrong bounds the number of remembered rows.
const mostWrong = 10_000

// saw records a row that a stream has read.
func (o *owners) saw(t *table.Table, r table.Row) {
	values := t.KeyValues(r)
	g, err := geneOf(t.Declared, values)
	if err == nil && t.Declared.MakesGene() {
		o.filler.saw(t, r, g)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.number(t.Declared, values)
	if err == nil && !small(t.Declared, values) {
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

// small reports whether the parent key of a row may belong to no row: every small number reads as an ID of gene
// 0.
func small(t *catalog.Table, values [][]byte) bool {
	for i := range t.Keys {
		if audit.IsSmall(&t.Keys[i], values[i]) {
			return true
		}
	}
	return false
}

// geneOf returns the gene on which a row's keys agree. It ignores the column that locus makes, which may not be
// filled yet.
func geneOf(t *catalog.Table, values [][]byte) (gene.Gene, error) {
	if t.MakesGene() {
		return ownerGene(t, values)
	}
	return audit.GeneOf(t, values)
}

// number records the sequence of a row's ID if it is the highest so far.
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

// lookAtAll checks all rows of the source, and forgets the rows that streams reported before.
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
		if t.Declared.Kind == catalog.Global { // its rows have no owner
			continue
		}
		if err := o.lookAtTable(ctx, c, shard, t); err != nil {
			return err
		}
	}
	if o.filler == nil {
		return nil
	}
	return o.filler.all(ctx, rest)
}

func (o *owners) lookAtTable(ctx context.Context, c *link.Conn, shard router.ShardName, t *table.Table) error {
	seen, err := o.keysIn(ctx, c, shard, t)
	if err == nil && seen.Strangers() > 0 { // perhaps a parent and its children were deleted between the two reads
		seen, err = o.keysIn(ctx, c, shard, t)
	}
	if err != nil {
		return fmt.Errorf("check the keys of table %s: %w", t.Name, err)
	}
	n, what := seen.Wrong(gene.Set{})
	if n == 0 {
		return nil
	}
	remedy := misfitsRemedy
	if seen.Strangers() > 0 {
		if remedy, err = o.homes.Remedy(ctx, c, t.Declared); err != nil {
			return err
		}
	}
	return &misfitsError{fmt.Sprintf("table %s: %s", t.Name, what), remedy}
}

func (o *owners) keysIn(ctx context.Context, c *link.Conn, shard router.ShardName, t *table.Table) (*audit.Misplaced, error) {
	parents, done, err := o.homes.Open(ctx, t.Declared, o.here)
	defer done()
	if err != nil {
		return nil, err
	}
	rows := audit.Rows{Conn: c, Table: t.Declared.ByOwner(), Walk: t, Shard: shard, Parents: parents, Seen: func(values [][]byte) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.number(t.Declared, values)
	}}
	return rows.Look(ctx)
}

// misfitsError reports rows that statements would not find once their table is sharded.
type misfitsError struct{ what, remedy string }

func (e *misfitsError) Error() string { return e.what }

const misfitsRemedy = "correct the rows' owners or IDs"

// stillWrong checks the reported rows again.
func (o *owners) stillWrong(ctx context.Context, c *link.Conn) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.tooMany {
		return &misfitsError{fmt.Sprintf("more than %d rows were written whose keys are of no gene or of different ones, or whose parent's ID may be none", mostWrong), misfitsRemedy}
	}
	for _, t := range slices.Collect(maps.Keys(o.wrong)) {
		still, strangers, err := o.wrongIn(ctx, c, t)
		if err != nil {
			return err
		}
		for _, k := range strangers {
			remedy, err := o.homes.Remedy(ctx, c, t.Declared)
			if err != nil {
				return err
			}
			return &misfitsError{fmt.Sprintf("table %s: %d rows have a parent's ID in %s that is none, such as %q", t.Name, len(strangers), t.Declared.Parent.Column, k), remedy}
		}
		o.wrong[t] = still
		for _, k := range still {
			return &misfitsError{fmt.Sprintf("table %s: %d rows have keys of no gene or of different ones, such as %q", t.Name, len(still), k), misfitsRemedy}
		}
	}
	return nil
}

// wrongIn checks the reported rows of one table again. It returns the rows whose keys don't agree, and the rows
// whose parent does not exist.
func (o *owners) wrongIn(ctx context.Context, c *link.Conn, t *table.Table) (still, strangers map[string]table.Key, err error) {
	still = map[string]table.Key{}
	children := map[string][]table.Key{} // by the parent's ID
	for some := range slices.Chunk(slices.Collect(maps.Values(o.wrong[t])), 200) {
		query := string(t.AppendKeyIn([]byte("SELECT "+t.ReadList()+" FROM "+t.SQL()+" WHERE "), some))
		err := c.Each(ctx, query, func(values [][]byte) error {
			r, err := t.Canonical(values)
			if err != nil {
				return err
			}
			k, keys := t.KeyOf(r), t.KeyValues(r)
			if _, wrong := geneOf(t.Declared, keys); wrong != nil {
				still[string(k.Encode())] = k
			} else if small(t.Declared, keys) {
				id := string(keys[slices.IndexFunc(t.Declared.Keys, func(k catalog.Key) bool { return k.Role == catalog.Parent })])
				children[id] = append(children[id], k)
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	strangers, err = o.orphans(ctx, c, t, children)
	return still, strangers, err
}

// orphans returns the children whose parent does not exist. It queries the source over c, which may hold locks.
func (o *owners) orphans(ctx context.Context, c *link.Conn, t *table.Table, children map[string][]table.Key) (map[string]table.Key, error) {
	if len(children) == 0 {
		return nil, nil
	}
	parents, done, err := o.homes.Elsewhere(ctx, t.Declared)
	defer done()
	if err != nil {
		return nil, err
	}
	parents.Places = append(o.homes.PlacesAt(c, t.Declared), parents.Places...)
	var ids [][]byte
	for id := range children {
		ids = append(ids, []byte(id))
	}
	known, err := parents.Known(ctx, ids)
	if err != nil {
		return nil, err
	}
	wrong := map[string]table.Key{}
	for id, keys := range children {
		for _, k := range keys {
			if !known[id] {
				wrong[string(k.Encode())] = k
			}
		}
	}
	return wrong, nil
}

// numbered returns declarations whose sequences start above the numbers of the existing rows.
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
