package catalog

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"locus/router"
	"locus/router/stmt"
)

// names is the closed world: what every name means on every shard of which the
// listing is known, and what it reaches there. It is immutable once made.
type names struct {
	listings map[router.ShardName]*Listing
	// on are the shards that have a table or view, in the catalog's order.
	on map[TableName][]router.ShardName
	// folded are the same names in lower case.
	folded map[TableName]TableName
	reach  map[router.ShardName]*reach
	// far are the names, by their last part in lower case, that a text which
	// can't be read must not mention.
	far   map[string][]TableName
	quiet map[TableName]bool
	// torn are the tables that can't be written since a foreign key is torn apart.
	torn map[TableName]*FarError
	// variables returns the user variables that routines name, in lower case and in order.
	variables func() []string
	uniform   bool
	// views are those of the default shard that reach rows of several.
	views map[TableName]*farView
}

// reach is what one shard's objects lead to.
type reach struct {
	shard  router.ShardName
	tables map[TableName]*listed
	// lower are tables and routines by their names in lower case: servers tell
	// the case of routines never, and of tables not everywhere.
	lower    map[TableName][]*listed
	routines map[TableName][]*listed // by their names in lower case
	schemas  map[string]bool         // in lower case
	all      []*listed
}

// listed is one object of a shard.
type listed struct {
	table   *ListedTable // or
	program *Program
	// read and write are what reading it and writing to it lead to; a program's
	// are one.
	read, write *node
}

// node is a step on the way from a name to what it reaches.
type node struct {
	from []*node // what reaches this
	far  string  // what is too far, in words; empty: nothing
	// traced: it may leave state on the connection.
	traced bool
}

// reaches notes that a leads to b.
func (a *node) reaches(b *node) { b.from = append(b.from, a) }

// close makes the closed world of the shards' listings.
func (c *Catalog) close(listings map[router.ShardName]*Listing) {
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
	n.variables = sync.OnceValue(func() []string { return variables(listings) }) // most catalogs are replaced before a statement asks
}

// follow finds what everything on a shard reaches.
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
		o.write.reaches(o.read)
		o.read.far = c.beyond(t, shard)
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
			on.write.reaches(t.read)
		}
	}
	for _, o := range r.all {
		r.link(o)
	}
	r.spread()
	r.noteTraces()
	return r
}

func (r *reach) add(name TableName, o *listed) {
	r.all = append(r.all, o)
	r.lower[name.lower()] = append(r.lower[name.lower()], o)
	r.schemas[strings.ToLower(name.Schema)] = true
}

// beyond says of a table on a shard why the rows there aren't all, or "".
func (c *Catalog) beyond(t *ListedTable, shard router.ShardName) string {
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

// List is shards as texts name them.
func List(shards []router.ShardName) string {
	texts := make([]string, len(shards))
	for i, s := range shards {
		texts[i] = string(s)
	}
	return strings.Join(texts, ", ")
}

// finished returns the listings with those finished that are not.
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

// link connects an object with those that its text mentions.
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
			o.leads(other)
		}
	}
}

// leads notes that one object's text names another.
func (o *listed) leads(other *listed) {
	switch {
	case o == other:
	case o.program != nil: // it may write
		o.read.reaches(other.write)
	case other.table != nil:
		o.read.reaches(other.read)
		o.write.reaches(other.write)
	default:
		o.read.reaches(other.read)
	}
}

// spread tells everything that leads to what is too far.
func (r *reach) spread() {
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

// WordsOf are all names that occur in a body, in lower case and without quotes. Where
// it can't be read as its mode has it, they are all words, in strings and comments too.
func WordsOf(body string, mode stmt.Mode) map[string]bool {
	words, _ := wordsOf(body, mode)
	return words
}

// wordsOf is WordsOf, and reports whether the body could be split into tokens.
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

// noteQuiet finds the tables of which reading and writing leaves nothing behind.
func (c *Catalog) noteQuiet() {
	n := c.closed
	for _, shard := range c.Shards {
		if n.listings[shard] == nil {
			return // nobody knows what is there
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

// calls tells whether an expression has a function that may do more than compute.
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

// noteFar collects what a text that can't be read must not mention.
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

// Listings are what the shards have, as far as that is known; nil: nobody looked.
func (c *Catalog) Listings() map[router.ShardName]*Listing {
	if c.closed == nil {
		return nil
	}
	return maps.Clone(c.closed.listings)
}
