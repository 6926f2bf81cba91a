package plan

import (
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// node is one table reference of one query block.
type node struct {
	block *stmt.Block
	index int // among the block's tables
	ref   *stmt.TableRef
	table *catalog.Table // nil for undeclared and derived tables
	class int            // a node of the same class, or itself; see root
	homes []home         // of a class's root
}

func (n *node) sharded() bool { return n.table != nil && n.table.Kind == catalog.Sharded }
func (n *node) global() bool  { return n.table != nil && n.table.Kind == catalog.Global }

// known reports whether all columns of the table are known.
func (n *node) known() bool { return n.table != nil && len(n.table.Columns) > 0 }

// scope resolves the names of a statement and groups its sharded tables into classes. The rows of one class that are joined into
// one row of the answer have one gene.
type scope struct {
	ctx     Context
	nodes   []node
	first   map[*stmt.Block]int         // the index of a block's first node
	readers map[*stmt.Block]*stmt.Block // by the block of a derived table, the block that reads it
	windows bool                        // the statement has window functions
	sides   groups                      // groups of nodes whose rows also have one residue
}

func newScope(s *stmt.Statement, ctx Context) (*scope, error) {
	sc := &scope{ctx: ctx, first: map[*stmt.Block]int{}, readers: map[*stmt.Block]*stmt.Block{}, windows: s.Features&stmt.Windows != 0}
	for _, b := range s.Blocks {
		sc.first[b] = len(sc.nodes)
		for i := range b.Tables {
			if source := b.Tables[i].Source; source != nil {
				sc.readers[source] = b
			}
			n := node{block: b, index: i, ref: &b.Tables[i], class: len(sc.nodes)}
			if !n.ref.Derived {
				t, err := ctx.find(n.ref.TableName)
				if err != nil {
					return nil, err
				}
				n.table = t
			}
			sc.sides = append(sc.sides, len(sc.nodes))
			sc.nodes = append(sc.nodes, n)
		}
	}
	for i := range sc.nodes {
		sc.nodes[i].homes = sc.homesOf(sc.nodes[i].block)
	}
	for _, b := range s.Blocks {
		sc.attachBlock(b)
	}
	return sc, nil
}

// of returns the nodes of a block.
func (sc *scope) of(b *stmt.Block) []node {
	first, ok := sc.first[b]
	if !ok {
		return nil
	}
	return sc.nodes[first : first+len(b.Tables)]
}

// resolve returns the table of a column, and the key that the column is, or nil if it is none. It searches the block and the
// blocks around it, and follows derived tables.
func (sc *scope) resolve(b *stmt.Block, ref stmt.ColumnRef) (*node, *catalog.Key) {
	for ; b != nil; b = b.Parent {
		n, unknown := sc.within(b, ref)
		if n != nil {
			return sc.through(n, ref.Name)
		}
		if unknown {
			if n = sc.onlyDerived(b); n != nil {
				return sc.through(n, ref.Name)
			}
			break
		}
	}
	return nil, nil
}

// onlyDerived returns the only table of a block if that is a derived one, or nil.
func (sc *scope) onlyDerived(b *stmt.Block) *node {
	if list := sc.of(b); len(list) == 1 && list[0].ref.Source != nil {
		return &list[0]
	}
	return nil
}

// through follows a column of a derived table to the table that it is read from.
func (sc *scope) through(n *node, column string) (*node, *catalog.Key) {
	for n != nil && n.ref.Source != nil {
		ref, ok := plainField(n.ref.Source, column)
		if !ok {
			return n, nil
		}
		source := n.ref.Source
		if n, _ = sc.within(source, ref); n == nil {
			if n = sc.onlyDerived(source); n == nil {
				return nil, nil
			}
		}
		column = ref.Name
	}
	if n == nil {
		return nil, nil
	}
	return n, n.key(column)
}

// plainField returns the column that the field of a name is. ok is false if the field is not a plain column.
func plainField(b *stmt.Block, name string) (ref stmt.ColumnRef, ok bool) {
	star := 0
	for _, f := range b.Fields {
		switch {
		case f.Star:
			star++
			if !ok {
				ref = stmt.ColumnRef{Table: f.StarOf, Name: name}
			}
		case strings.EqualFold(f.Alias, name) || f.Alias == "" && f.Column != nil && strings.EqualFold(f.Column.Name, name):
			if f.Column == nil || ok {
				return ref, false // an expression, or two of one name
			}
			ref, ok = *f.Column, true
		}
	}
	return ref, ok && star == 0 || !ok && star == 1 && len(b.Fields) == 1
}

// field returns the table and the key of a subquery's field. It returns nil if the field is not a plain column.
func (sc *scope) field(b *stmt.Block, at int) (*node, *catalog.Key) {
	if at >= len(b.Fields) || b.Fields[at].Column == nil {
		return nil, nil
	}
	for _, f := range b.Fields[:at] {
		if f.Star {
			return nil, nil
		}
	}
	n, unknown := sc.within(b, *b.Fields[at].Column)
	if n == nil && unknown {
		n = sc.onlyDerived(b)
	}
	if n == nil {
		return nil, nil
	}
	return sc.through(n, b.Fields[at].Column.Name)
}

// key returns the key that a column is, or nil.
func (n *node) key(column string) *catalog.Key {
	if !n.sharded() {
		return nil
	}
	key, _ := n.table.KeyOf(column)
	return key
}

// within returns the table of a column in one block. unknown is true if the column may belong to a table whose columns are not
// known, or to several tables.
func (sc *scope) within(b *stmt.Block, ref stmt.ColumnRef) (found *node, unknown bool) {
	if ref.Table != "" {
		return sc.qualified(b, ref)
	}
	var candidates []*node
	list := sc.of(b)
	for i := range list {
		n := &list[i]
		switch {
		case !n.known():
			unknown = true
		default:
			if _, ok := n.table.Column(ref.Name); ok {
				candidates = append(candidates, n)
			}
		}
	}
	switch len(candidates) {
	case 0:
		return nil, unknown || !ascii(ref.Name) // servers find é by the name e
	case 1: // if an unknown table also had the column, the server would return an error for an ambiguous name
		return candidates[0], unknown
	}
	return sc.merged(b, ref.Name, candidates), true
}

func (sc *scope) qualified(b *stmt.Block, ref stmt.ColumnRef) (found *node, unknown bool) {
	list := sc.of(b)
	for i := range list {
		n := &list[i]
		if n.ref.Alias != ref.Table || (ref.Schema != "" && ref.Schema != sc.schemaOf(n)) {
			continue
		}
		if found != nil {
			return nil, true // tables of one name, from two schemas
		}
		found = n
	}
	if found != nil && found.known() {
		if _, ok := found.table.Column(ref.Name); !ok {
			return nil, true
		}
	}
	return found, false
}

// merged returns the table that a column of USING refers to without a table's name.
func (sc *scope) merged(b *stmt.Block, name string, candidates []*node) *node {
	for i := len(b.Merged) - 1; i >= 0; i-- {
		m := b.Merged[i]
		if !strings.EqualFold(m.Name, name) {
			continue
		}
		var means *node
		covered := 0
		for _, c := range candidates {
			for _, alias := range m.Tables {
				if alias == c.ref.Alias {
					covered++
				}
			}
			if c.ref.Alias == m.Alias {
				means = c
			}
		}
		if covered == len(candidates) {
			return means
		}
	}
	return nil
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func (sc *scope) schemaOf(n *node) string { return sc.ctx.schemaOf(n.ref.TableName) }

func systemSchema(name string) bool {
	switch strings.ToLower(name) {
	case "information_schema", "performance_schema", "mysql", "sys":
		return true
	}
	return false
}
