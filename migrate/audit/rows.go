package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locus/idgen/gene"
	"locus/migrate/link"
	"locus/migrate/table"
	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// chunk is the number of rows that one statement reads, so that no statement keeps old row versions alive for
// long.
const chunk = 10_000

// Rows are the rows of a sharded table on one shard.
type Rows struct {
	Conn  *link.Conn
	Table *catalog.Table
	// Walk is the table for reading by primary key in chunks. If it is nil, one statement reads the rows in any order.
	Walk  *table.Table
	Shard router.ShardName
	// Most bounds how many rows are read from either end; 0 means all.
	Most int
	// Progress is called with the number of rows read so far. It may be nil.
	Progress func(rows uint64)
	// Seen is called with the values of each row's keys, in the order of the table's keys. It may be nil.
	Seen func(values [][]byte)
	// Placed is called with the primary key of each row whose keys have one gene, if Walk is set. It may be nil.
	Placed func(key table.Key, g gene.Gene) error
	// Parents looks up the parents of a child table's rows. It may be nil.
	Parents *Parents
}

// Misplaced describes the rows with problems.
type Misplaced struct {
	Rows     uint64 // rows read
	shard    router.ShardName
	unread   kind // a key yields no gene
	disagree kind // keys yield different genes
	genes    map[gene.Gene]*kind
	parents  *Parents // nil if no parents were looked up
}

// kind is the rows with one kind of problem, some of them with their keys.
type kind struct {
	rows  uint64
	named []string
}

func (k *kind) add(key [][]byte, why string) {
	if k.rows++; len(k.named) < named {
		k.named = append(k.named, spell([][][]byte{key})+why)
	}
}

// sort makes the choice of named rows deterministic.
func (k *kind) sort() {
	slices.Sort(k.named)
	k.named = k.named[:min(len(k.named), named)]
}

func (k *kind) such() string { return ", such as " + strings.Join(k.named, ", ") }

// Look reads the rows' keys and hashes them as an INSERT would.
func (r Rows) Look(ctx context.Context) (*Misplaced, error) {
	m := &Misplaced{shard: r.Shard, genes: map[gene.Gene]*kind{}, parents: r.Parents}
	err := r.each(ctx, func(key, values [][]byte) error {
		g, certain := m.look(r.Table, key, values)
		if certain && r.Parents != nil {
			if err := r.Parents.take(ctx, key, values); err != nil {
				return err
			}
		}
		if certain && r.Placed != nil {
			if err := r.Placed(key, g); err != nil {
				return err
			}
		}
		if r.Seen != nil {
			r.Seen(values)
		}
		if m.Rows%chunk == 0 && r.Progress != nil {
			r.Progress(m.Rows)
		}
		return nil
	})
	if err == nil && r.Parents != nil {
		err = r.Parents.flush(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("on %s: %w", r.Shard, err)
	}
	return m, nil
}

// each calls take with each row's primary key and the values of the columns that carry a gene.
func (r Rows) each(ctx context.Context, take func(key, values [][]byte) error) error {
	var columns []string
	for i := range r.Table.Keys {
		columns = append(columns, link.Name(r.Table.Keys[i].Column.Name))
	}
	list := strings.Join(columns, ",")
	if r.Walk == nil {
		return r.Conn.Each(ctx, "SELECT "+list+" FROM "+link.Name(r.Table.Schema)+"."+link.Name(r.Table.Name)+r.limit(),
			func(row [][]byte) error { return take(row, row) })
	}
	query := "SELECT " + r.Walk.KeyList() + "," + list + " FROM " + r.Walk.SQL()
	width := len(r.Walk.Key.Columns)
	if r.Most > 0 {
		for _, way := range []string{"", strings.ReplaceAll(r.Walk.Order(), ",", " DESC,") + " DESC"} {
			if way == "" {
				way = r.Walk.Order()
			}
			err := r.Conn.Each(ctx, query+way+table.Limit(r.Most), func(row [][]byte) error { return take(row[:width], row[width:]) })
			if err != nil {
				return err
			}
		}
		return nil
	}
	var last table.Key
	for {
		where, rows := "", 0
		if last != nil {
			where = " WHERE " + r.Walk.Beyond(last)
		}
		err := r.Conn.Each(ctx, query+where+r.Walk.Order()+table.Limit(chunk), func(row [][]byte) error {
			last = table.Key(row[:width])
			rows++
			return take(row[:width], row[width:])
		})
		if err != nil || rows < chunk {
			return err
		}
	}
}

func (r Rows) limit() string {
	if r.Most == 0 {
		return ""
	}
	return table.Limit(r.Most)
}

// look examines one row. certain reports whether its gene is known.
func (m *Misplaced) look(t *catalog.Table, key, values [][]byte) (g gene.Gene, certain bool) {
	m.Rows++
	g, err := GeneOf(t, values)
	if why, is := errors.AsType[*DisagreeError](err); is {
		m.disagree.add(key, " ("+why.Error()+")")
		return 0, false
	}
	if err != nil {
		m.unread.add(key, " ("+err.Error()+")")
		return 0, false
	}
	if m.genes[g] == nil {
		m.genes[g] = &kind{}
	}
	m.genes[g].add(key, "")
	return g, true
}

// DisagreeError is about a row whose keys have different genes.
type DisagreeError struct{ what string }

func (e *DisagreeError) Error() string { return e.what }

// GeneOf returns a row's gene from the values of its keys, in the order of the table's keys.
func GeneOf(t *catalog.Table, values [][]byte) (gene.Gene, error) {
	var first gene.Gene
	for i := range t.Keys {
		k := &t.Keys[i]
		if values[i] == nil && (k.Role == catalog.OrderNumber || k.Role == catalog.Text) {
			continue // NULL finds no row
		}
		g, err := k.Stored(ValueOf(k.Column, values[i]))
		switch {
		case err != nil:
			return 0, fmt.Errorf("its %s %w", k.Column.Name, err)
		case i == 0:
			first = g
		case g != first:
			return 0, &DisagreeError{fmt.Sprintf("%s is of gene %s, and %s of %s", t.Keys[0].Column.Name, first, k.Column.Name, g)}
		}
	}
	return first, nil
}

// ValueOf converts a value from a server to one as in an INSERT.
func ValueOf(c *catalog.Column, v []byte) stmt.Value {
	switch {
	case v == nil:
		return stmt.Value{Kind: stmt.Null}
	case c.IsBinary():
		return stmt.Value{Kind: stmt.Bytes, Text: v}
	case !c.IsInteger():
		return stmt.Value{Kind: stmt.String, Text: v}
	}
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return stmt.IntValue(n)
	}
	n, err := strconv.ParseUint(string(v), 10, 64)
	if err != nil {
		return stmt.Value{}
	}
	return stmt.UintValue(n)
}

// Has reports whether there is a row of one of the genes whose keys agree.
func (m *Misplaced) Has(genes gene.Set) bool {
	for g := range m.genes {
		if genes.Contains(g) {
			return true
		}
	}
	return false
}

// Strangers returns the number of rows whose parent does not exist, among the rows whose parents were looked up.
func (m *Misplaced) Strangers() uint64 {
	if m.parents == nil {
		return 0
	}
	return m.parents.strangers().rows
}

// Wrong returns how many rows have a problem, given that the shard must have no rows of the foreign genes, and a
// description.
func (m *Misplaced) Wrong(foreign gene.Set) (rows uint64, what string) {
	var elsewhere kind
	for g, k := range m.genes {
		if foreign.Contains(g) {
			elsewhere.rows += k.rows
			elsewhere.named = append(elsewhere.named, k.named...)
		}
	}
	elsewhere.sort()
	var said []string
	parts := []struct {
		kind
		what string
	}{
		{elsewhere, "rows of genes that are not " + string(m.shard) + "'s"},
		{m.disagree, "rows whose keys are of different genes"},
		{m.unread, "rows of no gene"},
	}
	if m.parents != nil {
		parts = append(parts, struct {
			kind
			what string
		}{m.parents.strangers(), m.parents.what()})
	}
	for _, part := range parts {
		if part.rows > 0 {
			rows += part.rows
			said = append(said, strconv.FormatUint(part.rows, 10)+" "+part.what+part.such())
		}
	}
	return rows, strings.Join(said, "; ")
}
