package table

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"locus/migrate/link"
)

// Loose is a unique key that does not determine the gene, so that equal values may be in rows on several shards.
type Loose struct {
	Name  string
	table *Table
	parts []loosePart
}

// loosePart is an element of a key: a column, a prefix of one, or an expression.
type loosePart struct {
	sql    string
	column *Column // nil for an expression
}

// Twin is two rows with equal values in a unique key.
type Twin struct {
	table          *Table
	key            *Loose
	values         Key
	Source, Target Key // of the two rows
}

func (t *Twin) String() string {
	return fmt.Sprintf("unique key %s of table %s does not contain the owner, and row %s at the source and row %s at the target both have %s in it",
		t.key.Name, t.table.Name, t.Source.Short(), t.Target.Short(), t.values.Short())
}

// TwinRemedy makes room for the row that moves.
const TwinRemedy = "change or delete one of the two rows through a proxy, or drop the key"

// Loose reads the table's unique keys that do not determine the gene. The cluster assigns AUTO_INCREMENT numbers once, so keys with one don't count.
func (t *Table) Loose(ctx context.Context, q Querier) (list []*Loose, err error) {
	for _, u := range append([]Index{t.Key}, t.Unique...) {
		if t.TellsGene(u) || t.Numbered(u) {
			continue
		}
		l := &Loose{Name: u.Name, table: t}
		if err := l.read(ctx, q); err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, nil
}

// unescaped undoes how information_schema writes an expression.
var unescaped = strings.NewReplacer(`\\`, `\`, `\'`, `'`)

// read reads the key's parts. Only MySQL's keys contain expressions.
func (l *Loose) read(ctx context.Context, q Querier) error {
	expression := "EXPRESSION"
	if q.Version().Flavor == link.MariaDB {
		expression = "NULL"
	}
	rows, err := q.Query(ctx, "SELECT COLUMN_NAME, SUB_PART, "+expression+" FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = "+link.Text(l.table.Name.Schema)+
		" AND TABLE_NAME = "+link.Text(l.table.Name.Name)+" AND INDEX_NAME = "+link.Text(l.Name)+" ORDER BY SEQ_IN_INDEX")
	if err != nil {
		return err
	}
	for _, r := range rows {
		at := -1
		if r[0] != nil {
			at = l.table.at(string(r[0]))
		}
		switch {
		case at < 0:
			l.parts = append(l.parts, loosePart{sql: "(" + unescaped.Replace(string(r[2])) + ")"})
		case r[1] != nil:
			l.parts = append(l.parts, loosePart{"LEFT(" + link.Name(string(r[0])) + "," + string(r[1]) + ")", &l.table.Columns[at]})
		default:
			l.parts = append(l.parts, loosePart{link.Name(string(r[0])), &l.table.Columns[at]})
		}
	}
	return nil
}

// list returns the select list: the columns of this key, then the columns of the primary key.
func (l *Loose) list() string {
	var b []byte
	for _, p := range l.parts {
		if p.column != nil && p.sql == link.Name(p.column.Name) {
			b = p.column.appendRead(b)
		} else {
			b = append(b, p.sql...)
		}
		b = append(b, ',')
	}
	return string(b) + l.table.KeyList()
}

// full returns the condition that a row has no NULL in the key. Such rows have no twins.
func (l *Loose) full() string {
	var all []string
	for _, p := range l.parts {
		all = append(all, p.sql+" IS NOT NULL")
	}
	return strings.Join(all, " AND ")
}

// in returns the condition that a row has one of the values.
func (l *Loose) in(values []Key) string {
	var names []string
	for _, p := range l.parts {
		names = append(names, p.sql)
	}
	b := []byte("(" + strings.Join(names, ",") + ") IN (")
	for i, k := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '(')
		for j, v := range k {
			if j > 0 {
				b = append(b, ',')
			}
			if c := l.parts[j].column; c != nil {
				b = c.AppendOperand(b, v)
			} else {
				b = appendQuoted(append(b, "_utf8mb4"...), v)
			}
		}
		b = append(b, ')')
	}
	return string(append(b, ')'))
}

// twinsAtOnce and twinBytes bound the values that one query searches for.
const (
	twinsAtOnce = 1000
	twinBytes   = 1 << 20
)

// FirstTwin returns a row at the source that satisfies a condition and has a twin at the target, or nil. Both connections are
// used.
func (l *Loose) FirstTwin(ctx context.Context, source, target *link.Conn, where string) (twin *Twin, err error) {
	var values []Key
	size := 0
	look := func() error {
		found, err := l.rows(ctx, target, l.in(values)+" LIMIT 1")
		values, size = nil, 0
		if err != nil || len(found) == 0 {
			return err
		}
		twin = &Twin{table: l.table, key: l, values: found[0][:len(l.parts)], Target: found[0][len(l.parts):]}
		return link.ErrEnough
	}
	err = source.Each(ctx, "SELECT "+l.list()+" FROM "+l.table.SQL()+" WHERE "+where+" AND "+l.full(), func(row [][]byte) error {
		k, err := l.canonical(row)
		if err != nil {
			return err
		}
		values = append(values, k[:len(l.parts)])
		for _, v := range k {
			size += len(v)
		}
		if len(values) < twinsAtOnce && size < twinBytes {
			return nil
		}
		return look()
	})
	if err == nil && len(values) > 0 {
		err = look()
	}
	if twin == nil {
		return nil, err
	}
	return twin, nil
}

// rows reads the values and keys of rows.
func (l *Loose) rows(ctx context.Context, c *link.Conn, where string) (found []Key, err error) {
	rows, err := c.Query(ctx, "SELECT "+l.list()+" FROM "+l.table.SQL()+" WHERE "+where)
	for _, r := range rows {
		k, err := l.canonical(r)
		if err != nil {
			return nil, err
		}
		found = append(found, k)
	}
	return found, err
}

// canonical returns a copy of a result of list.
func (l *Loose) canonical(row [][]byte) (k Key, err error) {
	for i, v := range row {
		v = bytes.Clone(v)
		if i < len(l.parts) && l.parts[i].column != nil {
			if v, err = l.parts[i].column.Canonical(v); err != nil {
				return nil, err
			}
		}
		k = append(k, v)
	}
	return k, nil
}

// Name finds the source's row of a twin.
func (t *Twin) Name(ctx context.Context, source *link.Conn, where string) error {
	rows, err := t.key.rows(ctx, source, where+" AND "+t.key.in([]Key{t.values})+" LIMIT 1")
	if err == nil && len(rows) > 0 {
		t.Source = rows[0][len(t.key.parts):]
	}
	return err
}

// TwinOf returns the row at the target that prevents a row of the source from being inserted, or nil if there
// is none.
func (t *Table) TwinOf(ctx context.Context, source, target *link.Conn, k Key) (*Twin, error) {
	keys, err := t.Loose(ctx, source)
	if err != nil {
		return nil, err
	}
	where := string(t.AppendKeyIn(nil, []Key{k}))
	for _, l := range keys {
		twin, err := l.FirstTwin(ctx, source, target, where)
		if twin != nil {
			twin.Source = k
		}
		if twin != nil || err != nil {
			return twin, err
		}
	}
	return nil, nil
}
