package catalog

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"locus/router"
	"locus/router/stmt"
)

// names contains the meaning of every name on every shard whose listing is known, and what the name reaches there. The catalog treats the
// listings as complete (a closed world). It is immutable once it is built.
type names struct {
	listings map[router.ShardName]*Listing
	// on maps each table or view to the shards that have it, in the catalog's order.
	on map[TableName][]router.ShardName
	// folded maps the same names in lower case to the names as a shard has them.
	folded map[TableName]TableName
	reach  map[router.ShardName]*reach
	// far contains the names, by their last part in lower case, that a text must not mention if it can't be parsed.
	far   map[string][]TableName
	quiet map[TableName]bool
	// torn are the tables that can't be written because a foreign key would have another effect than on a single server.
	torn map[TableName]*ForeignRowsError
	// variables returns the user variables that routines name, in lower case and sorted.
	variables func() []string
	uniform   bool
	// views are the views of the default shard that reach rows of several shards.
	views map[TableName]*farView
}

// reach contains the objects of one shard and the references between them.
type reach struct {
	shard  router.ShardName
	tables map[TableName]*listed
	// lower contains tables and routines by their names in lower case. Servers never distinguish the case of routine names, and that of table
	// names only on some systems.
	lower    map[TableName][]*listed
	routines map[TableName][]*listed // by their names in lower case
	schemas  map[string]bool         // in lower case
	all      []*listed
}

// listed is one object of a shard.
type listed struct {
	table   *ListedTable // exactly one of table and program is set
	program *Program
	// read and write are the nodes for reading the object and for writing to it. Both are the same node for a program.
	read, write *node
}

// node is a node in the graph of references between objects.
type node struct {
	from []*node // the nodes that refer to this one
	far  string  // a description of what is reached outside the shard; empty: nothing
	// traced: it may leave state on the connection.
	traced bool
}

// addTarget records that a refers to b.
func (a *node) addTarget(b *node) { b.from = append(b.from, a) }

// buildNames builds the names of the catalog from the shards' listings.
func (c *Catalog) buildNames(listings map[router.ShardName]*Listing) {
	listings = finished(listings)
	most := 0
	for _, l := range listings {
		most = max(most, len(l.Tables))
	}
	n := &names{
		listings: listings, on: make(map[TableName][]router.ShardName, most), folded: make(map[TableName]TableName, most),
		reach: map[router.ShardName]*reach{}, far: map[string][]TableName{}, quiet: map[TableName]bool{},
	}
	c.closed = n
	for _, shard := range c.Shards {
		l := listings[shard]
		if l == nil {
			continue
		}
		for i := range l.Tables {
			name := l.Tables[i].TableName
			n.on[name] = append(n.on[name], shard)
			n.folded[name.lower()] = name
		}
	}
	c.noteTorn()
	for shard, l := range listings {
		n.reach[shard] = c.follow(shard, l)
	}
	c.noteQuiet()
	c.noteUniform()
	c.noteViews()
	c.noteFar()
	n.variables = sync.OnceValue(func() []string { return variables(listings) }) // deferred, since most catalogs are replaced before a statement asks
}

// follow returns the objects of a shard and finds what each of them reaches.
func (c *Catalog) follow(shard router.ShardName, l *Listing) *reach {
	r := &reach{
		shard: shard, tables: make(map[TableName]*listed, len(l.Tables)), lower: make(map[TableName][]*listed, len(l.Tables)),
		routines: map[TableName][]*listed{}, schemas: map[string]bool{},
		all: make([]*listed, 0, len(l.Tables)+len(l.Programs)),
	}
	objects, nodes := make([]listed, len(l.Tables)), make([]node, 2*len(l.Tables))
	for i := range l.Tables {
		t := &l.Tables[i]
		o := &objects[i]
		o.table, o.read, o.write = t, &nodes[2*i], &nodes[2*i+1]
		o.write.addTarget(o.read)
		o.read.far = c.missingRows(t, shard)
		if torn := c.closed.torn[t.TableName]; torn != nil && o.read.far == "" {
			o.write.far = torn.What + " " + torn.Name.String() + ", which leads to " + torn.Reach
		}
		r.add(t.TableName, o)
		r.tables[t.TableName] = o
	}
	var triggers []*listed
	for i := range l.Programs {
		p := &l.Programs[i]
		one := &node{far: p.Hidden}
		o := &listed{program: p, read: one, write: one}
		switch {
		case p.routine():
			r.add(p.TableName, o)
			r.routines[p.lower()] = append(r.routines[p.lower()], o)
		case p.Type == trigger:
			triggers = append(triggers, o)
			r.all = append(r.all, o)
		default:
			r.all = append(r.all, o)
		}
	}
	for _, t := range triggers {
		if on := r.tables[TableName{t.program.Schema, t.program.On}]; on != nil {
			on.write.addTarget(t.read)
		}
	}
	for _, o := range r.all {
		r.link(o)
	}
	r.propagate()
	r.noteTraces()
	return r
}

func (r *reach) add(name TableName, o *listed) {
	r.all = append(r.all, o)
	r.lower[name.lower()] = append(r.lower[name.lower()], o)
	r.schemas[strings.ToLower(name.Schema)] = true
}

// missingRows returns why a table's rows on a shard are incomplete, or "" if the shard has all of them.
func (c *Catalog) missingRows(t *ListedTable, shard router.ShardName) string {
	d := c.tables[t.TableName]
	shards := c.closed.on[t.TableName]
	switch {
	case d != nil && d.Kind == Single && d.Shard == shard:
	case d != nil && d.Kind == Single:
		return "table " + t.String() + ", which is declared to be on shard " + string(d.Shard)
	case d != nil:
		return string(d.Kind) + " table " + t.String()
	case c.broken[t.TableName] != nil:
		return "table " + t.String() + ", which is declared and does not fit"
	case !t.Base():
		return t.Hidden
	case len(shards) > 1:
		return "table " + t.String() + ", which is on shards " + List(shards)
	}
	return ""
}

// List returns the names of shards as messages list them.
func List(shards []router.ShardName) string {
	texts := make([]string, len(shards))
	for i, s := range shards {
		texts[i] = string(s)
	}
	return strings.Join(texts, ", ")
}

// finished returns the listings. It replaces each unfinished one by a finished copy.
func finished(listings map[router.ShardName]*Listing) map[router.ShardName]*Listing {
	all := make(map[router.ShardName]*Listing, len(listings))
	for shard, l := range listings {
		if !l.finished {
			l = l.Without(nil, nil)
			l.Finish()
		}
		all[shard] = l
	}
	return all
}

// link adds the references of an object to those that its text mentions.
func (r *reach) link(o *listed) {
	var names []TableName
	switch {
	case o.program != nil:
		names = o.program.named.names
		for _, dynamic := range []string{"prepare", "execute"} {
			if o.program.reading().words[dynamic] && o.read.far == "" {
				o.read.far = "dynamic SQL (" + strings.ToUpper(dynamic) + ")"
			}
		}
	case !o.table.Base():
		names = o.table.named.names
	}
	for _, name := range names {
		for _, other := range r.lower[name] {
			o.addReference(other)
		}
	}
}

// addReference adds the references of an object to another one that its text names.
func (o *listed) addReference(other *listed) {
	switch {
	case o == other:
	case o.program != nil: // a program may write
		o.read.addTarget(other.write)
	case other.table != nil:
		o.read.addTarget(other.read)
		o.write.addTarget(other.write)
	default:
		o.read.addTarget(other.read)
	}
}

// propagate copies the description of what is too far to all nodes that reach it, directly or indirectly.
func (r *reach) propagate() {
	var next []*node
	for _, o := range r.all {
		for _, n := range []*node{o.read, o.write} {
			if n.far != "" {
				next = append(next, n)
			}
		}
	}
	for len(next) > 0 {
		n := next[0]
		next = next[1:]
		for _, from := range n.from {
			if from.far == "" {
				from.far = n.far
				next = append(next, from)
			}
		}
	}
}

// WordsOf returns all names that occur in a body, in lower case and without quotes. If the body can't be split into tokens in its mode, the
// result contains all words, including those in strings and comments.
func WordsOf(body string, mode stmt.Mode) map[string]bool {
	words, _ := wordsOf(body, mode)
	return words
}

// wordsOf is WordsOf. It also reports whether the body could be split into tokens.
func wordsOf(body string, mode stmt.Mode) (words map[string]bool, lexed bool) {
	words = map[string]bool{}
	var l stmt.Lexed
	l.Lex([]byte(body), mode)
	if l.Err == nil {
		l.Words(func(word []byte) {
			words[stmt.Unquoted(word)] = true
		})
		return words, true
	}
	for _, word := range strings.FieldsFunc(strings.ToLower(body), func(c rune) bool {
		return c < 0x80 && (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '$'
	}) {
		words[word] = true
	}
	return words, false
}

// noteQuiet records the tables for which [Catalog.Quiet] is true.
func (c *Catalog) noteQuiet() {
	n := c.closed
	for _, shard := range c.Shards {
		if n.listings[shard] == nil {
			return // that shard's objects are unknown
		}
	}
	for name := range n.on {
		n.quiet[name] = true
	}
	for shard, r := range n.reach {
		for name, o := range r.tables {
			if o.table.Type == "SEQUENCE" || !o.table.Base() || o.table.calls == callsMore {
				delete(n.quiet, name)
			}
		}
		for _, p := range n.listings[shard].Programs {
			if p.Type == trigger {
				delete(n.quiet, TableName{p.Schema, p.On})
			}
		}
	}
}

// calls reports whether an expression calls a function that may do more than compute.
func calls(expression string) bool {
	var l stmt.Lexed
	l.Lex([]byte(expression), 0)
	if l.Err != nil {
		return true
	}
	found := false
	l.Calls(func(word []byte, called bool) {
		found = found || called && !stmt.Computes(stmt.Unquoted(word))
	})
	return found
}

// noteFar records the names that a text must not mention if it can't be parsed.
func (c *Catalog) noteFar() {
	n := c.closed
	found := map[TableName]bool{}
	for name, shards := range n.on {
		if c.Reading(name) != nil || c.Writing(name) != nil || len(shards) > 1 {
			found[name] = true
		}
	}
	for _, r := range n.reach {
		for _, same := range r.routines {
			for _, o := range same {
				if o.read.far != "" {
					found[o.program.TableName] = true
				}
			}
		}
	}
	for name := range found {
		last := strings.ToLower(name.Name)
		n.far[last] = append(n.far[last], name)
	}
	for _, same := range n.far {
		slices.SortFunc(same, TableName.Compare)
	}
}

// Listings returns the listings of the shards that are known, or nil if none was read.
func (c *Catalog) Listings() map[router.ShardName]*Listing {
	if c.closed == nil {
		return nil
	}
	return maps.Clone(c.closed.listings)
}
