package table

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"locus/migrate/link"
	"locus/router/catalog"
)

// Effect is the change that a server makes to the rows that refer to a row.
type Effect uint8

const (
	// Leave does nothing. The server refuses the change if such rows exist.
	Leave Effect = iota
	// Delete deletes them.
	Delete
	// SetNull sets their referring columns to NULL.
	SetNull
	// Follow sets their referring columns to the row's new values.
	Follow
)

// Cascade is a foreign key by which a server changes the rows of Child when a row to which they refer is
// deleted or changed. The server may not log these changes.
type Cascade struct {
	Name               string
	Child              *Table
	Columns, Referred  []int // columns of Child, and of the table that they refer to
	OnDelete, OnUpdate Effect

	index string // index of Child that begins with Columns; empty: none is known
}

// ties are a table's foreign keys that cascade.
type ties struct {
	cascades []*Cascade
	reached  []*Table
	passedOn bool
	group    *group
}

// group is the set of tables that cascades connect. Their changes must be applied in one order, so one worker applies the
// changes of a gene in all of them.
type group struct {
	name   string
	byGene bool
}

// Cascades returns the foreign keys by which changes of the table's rows change others.
func (t *Table) Cascades() []*Cascade { return t.ties.cascades }

// Reaches reports whether a change of a row may change rows of another table, over any number of foreign keys.
func (t *Table) Reaches(other *Table) bool { return slices.Contains(t.ties.reached, other) }

// PassedOn reports whether a cascade may reach the table's rows through other rows that the cascade changes
// itself, in another table or in the same one. The table's own rows then don't show the effect of a change of
// the first row.
func (t *Table) PassedOn() bool { return t.ties.passedOn }

// loops reports whether a foreign key over which changes of the table's rows reach the table again changes a column.
func (t *Table) loops(column int) bool {
	if !t.Reaches(t) {
		return false
	}
	for _, parent := range append([]*Table{t}, t.ties.reached...) {
		for _, c := range parent.ties.cascades {
			if c.Child == t && slices.Contains(c.Columns, column) {
				return true
			}
		}
	}
	return false
}

// Tie finds the foreign keys that cascade between tables. It is called once, before anything else uses the tables.
func Tie(ctx context.Context, q Querier, tables []*Table) error {
	keys, err := ForeignKeys(ctx, q)
	if err != nil {
		return err
	}
	byName := map[catalog.TableName]*Table{}
	for _, t := range tables {
		byName[t.Name] = t
		t.ties = ties{}
	}
	for i := range keys {
		child, parent := byName[keys[i].TableName], byName[keys[i].References]
		if child == nil || parent == nil {
			continue
		}
		c := cascadeOf(&keys[i], child, parent)
		if c == nil {
			continue
		}
		if c.index, err = indexOf(ctx, q, child, c.Columns); err != nil {
			return err
		}
		parent.ties.cascades = append(parent.ties.cascades, c)
	}
	tie(tables)
	return nil
}

// ForeignKeys reads the foreign keys of a server.
func ForeignKeys(ctx context.Context, q Querier) (keys []catalog.ForeignKey, err error) {
	rows, err := q.Query(ctx, "SELECT k.CONSTRAINT_SCHEMA, k.TABLE_NAME, k.CONSTRAINT_NAME, k.COLUMN_NAME, k.REFERENCED_TABLE_SCHEMA, k.REFERENCED_TABLE_NAME,"+
		" k.REFERENCED_COLUMN_NAME, r.DELETE_RULE, r.UPDATE_RULE FROM information_schema.KEY_COLUMN_USAGE k JOIN information_schema.REFERENTIAL_CONSTRAINTS r"+
		" ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.TABLE_NAME = k.TABLE_NAME AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME"+
		" WHERE k.REFERENCED_TABLE_NAME IS NOT NULL ORDER BY k.CONSTRAINT_SCHEMA, k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION")
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		name := catalog.TableName{Schema: string(r[0]), Name: string(r[1])}
		if n := len(keys); n == 0 || keys[n-1].TableName != name || keys[n-1].Name != string(r[2]) {
			keys = append(keys, catalog.ForeignKey{
				TableName: name, Name: string(r[2]), References: catalog.TableName{Schema: string(r[4]), Name: string(r[5])},
				OnDelete: string(r[7]), OnUpdate: string(r[8]),
			})
		}
		k := &keys[len(keys)-1]
		k.Columns, k.Referred = append(k.Columns, string(r[3])), append(k.Referred, string(r[6]))
	}
	return keys, nil
}

// cascadeOf returns a foreign key as a Cascade, or nil if it changes no rows.
func cascadeOf(k *catalog.ForeignKey, child, parent *Table) *Cascade {
	c := &Cascade{Name: k.Name, Child: child, OnDelete: effectOf(k.OnDelete, Delete), OnUpdate: effectOf(k.OnUpdate, Follow)}
	if c.OnDelete == Leave && c.OnUpdate == Leave {
		return nil
	}
	for i := range k.Columns {
		from, to := child.at(k.Columns[i]), parent.at(k.Referred[i])
		if from < 0 || to < 0 {
			return nil
		}
		c.Columns, c.Referred = append(c.Columns, from), append(c.Referred, to)
	}
	return c
}

func effectOf(rule string, cascade Effect) Effect {
	switch rule {
	case "CASCADE":
		return cascade
	case "SET NULL":
		return SetNull
	}
	return Leave
}

func (t *Table) at(column string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return strings.EqualFold(c.Name, column) })
}

// indexOf finds the index by which the server finds the rows that refer.
func indexOf(ctx context.Context, q Querier, t *Table, columns []int) (string, error) {
	rows, err := q.Query(ctx, "SELECT INDEX_NAME, COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = "+link.Text(t.Name.Schema)+
		" AND TABLE_NAME = "+link.Text(t.Name.Name)+" AND SUB_PART IS NULL ORDER BY INDEX_NAME, SEQ_IN_INDEX")
	if err != nil {
		return "", err
	}
	var name string
	var begins []int
	for _, r := range rows {
		if string(r[0]) != name {
			name, begins = string(r[0]), nil
		}
		if begins = append(begins, t.at(string(r[1]))); slices.Equal(begins, columns) {
			return name, nil
		}
	}
	return "", nil
}

// tie finds the tables that cascades connect.
func tie(tables []*Table) {
	for _, t := range tables {
		for next := []*Table{t}; len(next) > 0; next = next[1:] {
			for _, c := range next[0].ties.cascades {
				if !slices.Contains(t.ties.reached, c.Child) {
					t.ties.reached = append(t.ties.reached, c.Child)
					next = append(next, c.Child)
				}
			}
		}
	}
	for _, t := range tables {
		t.join(tables)
		for _, c := range t.ties.cascades {
			for _, next := range c.Child.ties.cascades {
				next.Child.ties.passedOn = next.Child.ties.passedOn || c.leadsTo(next)
			}
		}
	}
}

// leadsTo reports whether the effect of c on a row may trigger a cascade of next.
func (c *Cascade) leadsTo(next *Cascade) bool {
	if c.OnDelete == Delete && next.OnDelete != Leave {
		return true
	}
	refers := slices.ContainsFunc(next.Referred, func(at int) bool { return slices.Contains(c.Columns, at) })
	return refers && next.OnUpdate != Leave && (c.OnUpdate != Leave || c.OnDelete == SetNull)
}

// join puts a table into a group with all that cascades connect it to.
func (t *Table) join(tables []*Table) {
	if t.ties.group != nil || len(t.ties.cascades) == 0 {
		return
	}
	g := &group{name: t.Name.String(), byGene: true}
	for next := []*Table{t}; len(next) > 0; next = next[1:] {
		one := next[0]
		if one.ties.group == g {
			continue
		}
		one.ties.group = g
		g.name, g.byGene = min(g.name, one.Name.String()), g.byGene && one.ownByGene()
		for _, other := range tables {
			if tied(one, other) || tied(other, one) {
				next = append(next, other)
			}
		}
	}
}

func tied(parent, child *Table) bool {
	return slices.ContainsFunc(parent.ties.cascades, func(c *Cascade) bool { return c.Child == child })
}

// Acts reports whether a change of a row that is referred to changes rows that refer to it. It returns the values that these have.
func (c *Cascade) Acts(before, after Row) (values [][]byte, acts bool) {
	acts = after == nil && c.OnDelete != Leave
	for _, at := range c.Referred {
		if before[at] == nil {
			return nil, false
		}
		values = append(values, before[at])
		acts = acts || after != nil && c.OnUpdate != Leave && !bytes.Equal(before[at], after[at])
	}
	return values, acts
}

// Becomes returns the new value of a referring row, or nil if it is deleted. after is the new value of the row
// to which it refers, or nil if that is deleted.
func (c *Cascade) Becomes(child, after Row) Row {
	effect := c.OnDelete
	if after != nil {
		effect = c.OnUpdate
	}
	if effect == Delete {
		return nil
	}
	next := slices.Clone(child)
	for i, at := range c.Columns {
		if next[at] = nil; effect == Follow {
			next[at] = after[c.Referred[i]]
		}
	}
	return next
}

// AppendReferring appends a SELECT of the rows of Child with one of several values.
func (c *Cascade) AppendReferring(b []byte, values [][][]byte) []byte {
	t := c.Child
	b = append(b, "SELECT "+t.ReadList()+" FROM "+t.SQL()...)
	if c.index != "" {
		b = append(b, " FORCE INDEX ("+link.Name(c.index)+")"...)
	}
	b = append(b, " WHERE ("...)
	for i, at := range c.Columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, link.Name(t.Columns[at].Name)...)
	}
	b = append(b, ") IN ("...)
	for i, tuple := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '(')
		for j, v := range tuple {
			if j > 0 {
				b = append(b, ',')
			}
			b = t.Columns[c.Columns[j]].AppendOperand(b, v)
		}
		b = append(b, ')')
	}
	return append(b, ')')
}
