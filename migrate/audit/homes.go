package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locus/migrate/link"
	"locus/router/catalog"
)

// Homes describes on which servers parents of a child table's rows may be.
type Homes struct {
	// Here are the tables that are declared, or are about to be, whose rows are on the child's server.
	Here map[catalog.TableName]catalog.Declaration
	// Spread are the declared tables whose rows are on Shards.
	Spread map[catalog.TableName]catalog.Declaration
	Shards []link.Server
}

// Open connects to all servers that may have parents of a child table's rows, and returns nil for a table without a parent. The
// caller calls done in any case.
func (h Homes) Open(ctx context.Context, child *catalog.Table, here link.Server) (p *Parents, done func(), err error) {
	if child.Kind != catalog.Sharded || child.Parent == nil {
		return nil, func() {}, nil
	}
	c, err := link.Dial(ctx, here)
	if err != nil {
		return nil, func() {}, err
	}
	p, hangUp, err := h.Elsewhere(ctx, child)
	done = func() {
		hangUp()
		_ = c.Close()
	}
	if err != nil {
		return nil, done, err
	}
	p.Places = append(h.PlacesAt(c, child), p.Places...)
	if len(p.Places) == 0 {
		from, err := h.numbers(ctx, c, child)
		p.Numbered = from != nil
		return p, done, err
	}
	return p, done, nil
}

// PlacesAt returns the tables of the child's server that may have parents.
func (h Homes) PlacesAt(c *link.Conn, child *catalog.Table) (places []Place) {
	for _, name := range ParentTables(child.TableName, child.Declaration, h.Here) {
		places = append(places, Place{c, name, h.Here[name].ID.Column})
	}
	return places
}

// Elsewhere connects to the shards that may have parents of a child table's rows. The caller must call done, even after an
// error.
func (h Homes) Elsewhere(ctx context.Context, child *catalog.Table) (p *Parents, done func(), err error) {
	p = &Parents{Child: child}
	var conns []*link.Conn
	done = func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}
	tables := ParentTables(child.TableName, child.Declaration, h.Spread)
	if len(tables) == 0 {
		return p, done, nil
	}
	for _, at := range h.Shards {
		c, err := link.Dial(ctx, at)
		if err != nil {
			return nil, done, err
		}
		conns = append(conns, c)
		for _, name := range tables {
			p.Places = append(p.Places, Place{c, name, h.Spread[name].ID.Column})
		}
	}
	return p, done, nil
}

// declared returns the declaration of a table, on any server.
func (h Homes) declared(name catalog.TableName) (catalog.Declaration, bool) {
	if d, is := h.Here[name]; is {
		return d, true
	}
	d, is := h.Spread[name]
	return d, is
}

// numberedBy is a table whose plain numbers a child's column has.
type numberedBy struct {
	catalog.TableName
	column string
}

// Remedy returns what an operator can do about rows of a child whose values are no IDs of a parent. It finds the table that
// numbers the parents by a foreign key, or by the name of the column.
func (h Homes) Remedy(ctx context.Context, c *link.Conn, child *catalog.Table) (string, error) {
	column := child.Parent.Column
	const correct = "correct the rows"
	from, err := h.numbers(ctx, c, child)
	if err == nil && from == nil && len(ParentTables(child.TableName, child.Declaration, h.Here))+len(ParentTables(child.TableName, child.Declaration, h.Spread)) > 0 {
		return correct + " whose parents are missing, or delete them", nil
	}
	if err != nil || from == nil {
		return fmt.Sprintf("%s, or copy the parent's owner into a column of table %s and declare owner= in place of parent=%s", correct, child.TableName, column), err
	}
	d, is := h.declared(from.TableName)
	if is && d.ID != nil && strings.EqualFold(d.ID.Column, from.column) && d.ID.Layouts() == child.Parent.Layouts() {
		return fmt.Sprintf("%s whose parents are missing from %s, or delete them", correct, from.TableName), nil
	}
	if !is || d.Owner == "" {
		return fmt.Sprintf("%s numbers its rows by itself in %s: copy the column that is to be its owner into table %s, and declare owner= in place of parent=%s",
			from.TableName, from.column, child.TableName, column), nil
	}
	return h.copyOwner(ctx, c, child, from, d.Owner)
}

// copyOwner returns the statements that copy the owner of a parent into its children.
func (h Homes) copyOwner(ctx context.Context, c *link.Conn, child *catalog.Table, from *numberedBy, owner string) (string, error) {
	again := fmt.Sprintf("then declare owner=%s in place of parent=%s", owner, child.Parent.Column)
	if _, has := child.Column(owner); has {
		return again, nil
	}
	rows, err := c.Query(ctx, "SELECT CONCAT(COLUMN_TYPE, IFNULL(CONCAT(' CHARACTER SET ', CHARACTER_SET_NAME, ' COLLATE ', COLLATION_NAME), '')) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = "+
		link.Text(from.Schema)+" AND TABLE_NAME = "+link.Text(from.Name)+" AND COLUMN_NAME = "+link.Text(owner))
	if err != nil || len(rows) == 0 {
		return again, err
	}
	kind, of, by := string(rows[0][0]), quoted(child.TableName), quoted(from.TableName)
	return fmt.Sprintf("%[1]s numbers its rows by itself in %[2]s, so copy its owner into the children: "+
		"ALTER TABLE %[3]s ADD COLUMN %[4]s %[5]s; UPDATE %[3]s c JOIN %[6]s p ON p.%[7]s = c.%[8]s SET c.%[4]s = p.%[4]s; ALTER TABLE %[3]s MODIFY COLUMN %[4]s %[5]s NOT NULL; "+
		"let the application write that column too; %[9]s",
		from.TableName, from.column, of, link.Name(owner), kind, by, link.Name(from.column), link.Name(child.Parent.Column), again), nil
}

// numbers finds the table whose numbers a child's column has, or returns nil.
func (h Homes) numbers(ctx context.Context, c *link.Conn, child *catalog.Table) (*numberedBy, error) {
	column := child.Parent.Column
	rows, err := c.Query(ctx, "SELECT REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = "+
		link.Text(child.Schema)+" AND TABLE_NAME = "+link.Text(child.Name)+" AND COLUMN_NAME = "+link.Text(column)+" AND REFERENCED_TABLE_NAME IS NOT NULL")
	if err == nil && len(rows) == 0 {
		schemas := map[string]bool{link.Text(child.Schema): true}
		for _, in := range []map[catalog.TableName]catalog.Declaration{h.Here, h.Spread} {
			for name := range in {
				schemas[link.Text(name.Schema)] = true
			}
		}
		rows, err = c.Query(ctx, "SELECT s.TABLE_SCHEMA, s.TABLE_NAME, s.COLUMN_NAME FROM information_schema.STATISTICS s WHERE s.NON_UNIQUE = 0 AND s.COLUMN_NAME = "+link.Text(column)+
			" AND s.TABLE_SCHEMA IN ("+strings.Join(slices.Sorted(maps.Keys(schemas)), ",")+") AND NOT (s.TABLE_SCHEMA = "+link.Text(child.Schema)+" AND s.TABLE_NAME = "+link.Text(child.Name)+")"+
			" AND NOT EXISTS (SELECT 1 FROM information_schema.STATISTICS o WHERE o.TABLE_SCHEMA = s.TABLE_SCHEMA AND o.TABLE_NAME = s.TABLE_NAME AND o.INDEX_NAME = s.INDEX_NAME AND o.COLUMN_NAME <> s.COLUMN_NAME)"+
			" ORDER BY s.TABLE_SCHEMA <> "+link.Text(child.Schema)+", s.TABLE_NAME")
	}
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	var best *numberedBy
	for _, r := range rows {
		one := &numberedBy{catalog.TableName{Schema: string(r[0]), Name: string(r[1])}, string(r[2])}
		shares, err := sharesNumbers(ctx, c, child, one)
		if err != nil {
			return nil, err
		}
		d, is := h.declared(one.TableName)
		if !shares || best != nil && (!is || d.Owner == "") { // a place with an owner determines more
			continue
		}
		best = one
	}
	return best, nil
}

// sharesNumbers reports whether some of a child's first rows have numbers of a table.
func sharesNumbers(ctx context.Context, c *link.Conn, child *catalog.Table, of *numberedBy) (bool, error) {
	column := link.Name(child.Parent.Column)
	rows, err := c.Query(ctx, "SELECT 1 FROM (SELECT "+column+" FROM "+quoted(child.TableName)+" LIMIT 1000) c JOIN "+quoted(of.TableName)+" p ON p."+link.Name(of.column)+" = c."+column+" LIMIT 1")
	if err != nil && c.Broken() == nil && ctx.Err() == nil { // values that can't be compared
		return false, nil
	}
	return len(rows) > 0, err
}

func quoted(n catalog.TableName) string { return link.Name(n.Schema) + "." + link.Name(n.Name) }
