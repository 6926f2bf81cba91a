package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locus/idgen/gene"
	"locus/migrate/link"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Place is a server with rows of a table that has IDs of its own.
type Place struct {
	Conn   *link.Conn
	Table  catalog.TableName
	Column string // the ID's
}

// Parents checks that the values which a child table has as its parent's ID are IDs of a parent. Every integer that is not
// negative reads as an ID, and the small numbers of an AUTO_INCREMENT column all read as IDs of gene 0. So nothing but the
// parent's own table shows that they are IDs.
//
// A row without a parent passes if its value is no small number and other rows of the table do have a parent: applications
// delete parents and leave children. So do all rows if no table has the parents.
type Parents struct {
	Child  *catalog.Table
	Places []Place
	// Numbered reports that another table numbers the parents, and that those numbers are no IDs. It counts without Places alone.
	Numbered bool
	// Most is the largest number of values that are all looked up. Of more values, only a sample is. 0: there is no limit.
	Most int

	waiting []childRow
	last    string // the value that was taken last
	looked  int
	found   int
	batches int
	small   kind // rows whose value is a small number and no parent's ID
	other   kind // rows whose value is another number and no parent's ID
}

// childRow is a row's primary key and its value of the parent's ID.
type childRow struct{ key, value [][]byte }

// Numbers of servers' errors.
const (
	unknownTable  = 1146
	unknownSchema = 1049
)

const (
	parentsAtOnce = 500
	// someBatches: beyond Most, one batch in this many is looked up.
	someBatches = 20
)

// ParentTables returns the tables that make IDs which a child of this declaration may name.
func ParentTables(child catalog.TableName, d catalog.Declaration, tables map[catalog.TableName]catalog.Declaration) (names []catalog.TableName) {
	if d.Parent == nil {
		return nil
	}
	for name, t := range tables {
		if name != child && t.Kind == catalog.Sharded && t.ID != nil && t.ID.Layouts() == d.Parent.Layouts() {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, catalog.TableName.Compare)
	return names
}

// IsSmall reports whether a parent's ID is of gene 0, as plain numbers are.
func IsSmall(k *catalog.Key, value []byte) bool {
	if k.Role != catalog.Parent || value == nil {
		return false
	}
	g, err := k.Stored(ValueOf(k.Column, value))
	return err == nil && g == gene.Gene(0)
}

// parentAt returns the index of the key that is the parent's ID, or -1.
func parentAt(t *catalog.Table) int {
	return slices.IndexFunc(t.Keys, func(k catalog.Key) bool { return k.Role == catalog.Parent })
}

// take adds a row. Neighbouring rows usually have the same parent, which is looked up once.
func (p *Parents) take(ctx context.Context, key, values [][]byte) error {
	at := parentAt(p.Child)
	if at < 0 || values[at] == nil || p.looked > 0 && string(values[at]) == p.last {
		return nil
	}
	p.last = string(values[at])
	p.looked++
	p.waiting = append(p.waiting, childRow{key, [][]byte{values[at]}})
	if len(p.waiting) < parentsAtOnce {
		return nil
	}
	return p.flush(ctx)
}

// flush looks up the collected values.
func (p *Parents) flush(ctx context.Context) error {
	rows := p.waiting
	p.waiting = nil
	p.batches++
	if len(rows) == parentsAtOnce && p.Most > 0 && p.looked > p.Most && p.batches%someBatches != 0 {
		return nil
	}
	key := &p.Child.Keys[parentAt(p.Child)]
	there, err := p.Known(ctx, values(rows))
	if err != nil {
		return err
	}
	for _, row := range rows {
		switch value := row.value[0]; {
		case there[string(value)]:
			p.found++
		case IsSmall(key, value):
			p.small.add(row.key, fmt.Sprintf(" (%s %s)", key.Column.Name, spell([][][]byte{row.value})))
		default:
			p.other.add(row.key, fmt.Sprintf(" (%s %s)", key.Column.Name, spell([][][]byte{row.value})))
		}
	}
	return nil
}

func values(rows []childRow) (list [][]byte) {
	for _, r := range rows {
		list = append(list, r.value[0])
	}
	return list
}

// Known returns which of the given values are IDs of a parent.
func (p *Parents) Known(ctx context.Context, values [][]byte) (map[string]bool, error) {
	known := map[string]bool{}
	column := p.Child.Keys[parentAt(p.Child)].Column
	left := slices.Clone(values)
	for _, at := range p.Places {
		left = slices.DeleteFunc(left, func(v []byte) bool { return known[string(v)] })
		for some := range slices.Chunk(left, parentsAtOnce) {
			query := "SELECT " + link.Name(at.Column) + " FROM " + link.Name(at.Table.Schema) + "." + link.Name(at.Table.Name) +
				" WHERE " + link.Name(at.Column) + " IN (" + literals(column, some) + ")"
			err := at.Conn.Each(ctx, query, func(row [][]byte) error {
				known[string(row[0])] = true
				return nil
			})
			if code := link.Code(err); code == unknownTable || code == unknownSchema { // the table does not exist on that server yet
				break
			}
			if err != nil {
				return nil, fmt.Errorf("look for parents in table %s: %w", at.Table, err)
			}
		}
	}
	return known, nil
}

func literals(c *catalog.Column, values [][]byte) string {
	texts := make([]string, len(values))
	for i, v := range values {
		if ValueOf(c, v).Kind == stmt.Bytes {
			texts[i] = fmt.Sprintf("X'%X'", v)
		} else {
			texts[i] = string(v)
		}
	}
	return strings.Join(texts, ",")
}

// strangers returns the rows whose parent's ID is none. Rows with other numbers count if nothing shows that the table's values are
// IDs at all.
func (p *Parents) strangers() kind {
	all := p.small
	if p.found == 0 && (len(p.Places) > 0 || p.Numbered) {
		all.rows += p.other.rows
		all.named = append(slices.Clone(all.named), p.other.named...)
	}
	all.sort()
	return all
}

// what returns a description of the tables in which parents were searched.
func (p *Parents) what() string {
	column := p.Child.Keys[parentAt(p.Child)].Column.Name
	tables := map[string]bool{}
	for _, at := range p.Places {
		tables[at.Table.String()+" ("+at.Column+")"] = true
	}
	if len(tables) == 0 {
		return fmt.Sprintf("rows whose %s is no ID of a parent: no sharded table declares such IDs", column)
	}
	return fmt.Sprintf("rows whose %s is no ID in %s", column, strings.Join(slices.Sorted(maps.Keys(tables)), ", "))
}
