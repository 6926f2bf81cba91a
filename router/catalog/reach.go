package catalog

import (
	"maps"
	"strings"
	"sync"

	"locus/router"
	"locus/router/stmt"
)

// names contains the meaning of every name on every shard whose listing is known, and the objects that the name reaches there.
// The catalog treats the listings as complete (a closed world). It is immutable once it is built.
//
// A definition of one table replaces the names as a whole. So names has no entries for the many tables to which nothing
// refers. They are found in the sorted listings when a statement names them.
type names struct {
	listings map[router.ShardName]*Listing
	reach    map[router.ShardName]*reach
	// torn are the tables that can't be written because a foreign key would have another effect than on a single server.
	torn map[TableName]*ForeignRowsError
	// variables returns the user variables that routines and triggers name, in lower case and sorted.
	variables func() []string
	uniform   bool
	// views are the views of the default shard that reach rows of several shards.
	views map[TableName]*farView
}

// reach contains the objects of one shard and the references between them.
type reach struct {
	shard   router.ShardName
	listing *Listing
	// far is [Catalog.missingRows] of a table on the shard, and torn returns why its rows can't be changed, or "".
	far, torn func(*ListedTable) string
	// tables contains the views, and the tables that have a trigger, that a text may name, or that may leave state on a connection.
	tables    map[TableName]*listed
	routines  map[TableName][]*listed // by their names in lower case
	triggered map[TableName]bool      // tables that have a trigger
	all       []*listed               // first the tables, then the programs
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
	far  string  // a description of the object outside the shard that is reached; empty: none
	// traced: it may leave state on the connection.
	traced bool
}

// addTarget records that a refers to b.
func (a *node) addTarget(b *node) { b.from = append(b.from, a) }

// buildNames builds the names of the catalog from the shards' listings.
func (c *Catalog) buildNames(listings map[router.ShardName]*Listing) {
	listings = finished(listings)
	n := &names{listings: listings, reach: map[router.ShardName]*reach{}}
	c.closed = n
	c.noteTorn()
	c.checkLookups(listings)
	for shard, l := range listings {
		n.reach[shard] = c.follow(shard, l, l.referred())
	}
	c.noteUniform()
	c.noteViews()
	n.variables = sync.OnceValue(func() []string { return variables(listings) }) // deferred, since most catalogs are replaced before a statement asks
}

// on returns the shards that are known to have a table or view, in the catalog's order.
func (c *Catalog) on(name TableName) (shards []router.ShardName) {
	for _, shard := range c.Shards {
		if l := c.closed.listings[shard]; l != nil && l.table(name) != nil {
			shards = append(shards, shard)
		}
	}
	return shards
}

// follow returns the objects of a shard and finds the objects that each of them reaches. referred is the result of
// [Listing.referred].
func (c *Catalog) follow(shard router.ShardName, l *Listing, referred []int) *reach {
	r := &reach{
		shard: shard, listing: l, tables: map[TableName]*listed{}, routines: map[TableName][]*listed{}, triggered: map[TableName]bool{},
		far: func(t *ListedTable) string { return c.missingRows(t, shard) },
		torn: func(t *ListedTable) string {
			if torn := c.closed.torn[t.TableName]; torn != nil {
				return torn.What + " " + torn.Name.String() + ", which leads to " + torn.Reach
			}
			return ""
		},
	}
	for _, i := range referred {
		o := r.newTable(&l.Tables[i])
		r.tables[o.table.TableName] = o
		r.all = append(r.all, o)
	}
	for i := range l.Programs {
		p := &l.Programs[i]
		one := &node{far: p.Hidden}
		o := &listed{program: p, read: one, write: one}
		r.all = append(r.all, o)
		switch {
		case p.routine():
			r.routines[p.lower()] = append(r.routines[p.lower()], o)
		case p.Type == trigger:
			on := TableName{p.Schema, p.On}
			r.triggered[on] = true
			if table := r.tables[on]; table != nil {
				table.write.addTarget(o.read)
			}
		}
	}
	for _, o := range r.all {
		r.link(o)
	}
	r.propagate()
	r.noteTraces()
	return r
}

// newTable returns the object of a table, without references to others.
func (r *reach) newTable(t *ListedTable) *listed {
	o := &listed{table: t, read: &node{far: r.far(t)}, write: &node{}}
	o.write.addTarget(o.read)
	if o.read.far == "" {
		o.write.far = r.torn(t)
	}
	return o
}

// table returns the object of a table or view, or nil if the shard has none of the name.
func (r *reach) table(name TableName) *listed {
	if o := r.tables[name]; o != nil {
		return o
	}
	if t := r.listing.table(name); t != nil {
		return r.newTable(t)
	}
	return nil
}

// named returns the tables and routines that a name in lower case may denote. Servers never distinguish the case of routine
// names. They distinguish the case of table names only on some systems.
func (r *reach) named(low TableName) (all []*listed) {
	for _, t := range r.listing.tablesOf(low) {
		all = append(all, r.table(t.TableName))
	}
	return append(all, r.routines[low]...)
}

// missingRows returns why a table's rows on a shard are incomplete, or "" if the shard has all of them.
func (c *Catalog) missingRows(t *ListedTable, shard router.ShardName) string {
	d := c.tables[t.TableName]
	switch {
	case d != nil && d.Kind == Single && d.Shard == shard: // a copy on another shard is never read
		return ""
	case d != nil && d.Kind == Single:
		return "table " + t.String() + ", which is declared to be on shard " + string(d.Shard)
	case d != nil:
		return string(d.Kind) + " table " + t.String()
	case c.broken[t.TableName] != nil:
		return "table " + t.String() + ", which is declared and does not fit"
	case !t.Base():
		return t.Hidden
	}
	if shards := c.on(t.TableName); len(shards) > 1 {
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
		for _, other := range r.named(name) {
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

// propagate copies each description of a missing object to all nodes that reach it, directly or indirectly.
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

// Listings returns the listings of the shards that are known, or nil if none was read.
func (c *Catalog) Listings() map[router.ShardName]*Listing {
	if c.closed == nil {
		return nil
	}
	return maps.Clone(c.closed.listings)
}
