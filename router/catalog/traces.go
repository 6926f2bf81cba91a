package catalog

import (
	"maps"
	"slices"
	"strings"

	"locus/router"
)

// Trace describes the state that stored code leaves on a connection. Stored code is in views, triggers, routines and
// sequences.
type Trace uint8

const (
	// UnknownTrace: the shards' objects are unknown, or none has the name.
	UnknownTrace Trace = iota
	// Traceless: it leaves no state.
	Traceless
	// Traced: it may leave any state.
	Traced
)

// noteTraces marks the nodes that may leave state, and those that reach them.
func (r *reach) noteTraces() {
	var next []*node
	note := func(n *node) {
		if !n.traced {
			n.traced = true
			next = append(next, n)
		}
	}
	stored := func(name string) bool {
		return slices.ContainsFunc(r.all, func(o *listed) bool { return o.program != nil && o.program.routine() && o.program.lower().Name == name })
	}
	for _, o := range r.all {
		switch {
		case o.program != nil:
			if o.program.Hidden != "" || o.program.keeps(stored) {
				note(o.read)
			}
		case !o.table.Base():
			if o.table.Hidden != "" || !o.table.reading().keepsNothing { // a query that calls a function may also write
				note(o.read)
				note(o.write)
			}
		case o.table.special():
			note(o.read)
			note(o.write)
		}
	}
	for len(next) > 0 {
		n := next[0]
		next = next[1:]
		for _, from := range n.from {
			note(from)
		}
	}
}

// ReadTrace reports whether reading a table or view leaves state, on any shard.
func (c *Catalog) ReadTrace(name TableName) Trace {
	return c.trace(name, func(o *listed) *node { return o.read })
}

// WriteTrace reports whether changing the rows of a table or view leaves state, on any shard.
func (c *Catalog) WriteTrace(name TableName) Trace {
	return c.trace(name, func(o *listed) *node { return o.write })
}

func (c *Catalog) trace(name TableName, of func(*listed) *node) Trace {
	if c.closed == nil || len(c.closed.listings) < len(c.Shards) {
		return UnknownTrace
	}
	found := UnknownTrace
	for _, shard := range c.Shards {
		o := c.closed.reach[shard].table(name)
		switch {
		case o == nil:
		case of(o).traced:
			return Traced
		default:
			found = Traceless
		}
	}
	return found
}

// CallTrace reports whether a routine that a statement calls by a name leaves state, on any shard. current is the statement's schema.
func (c *Catalog) CallTrace(current, schema, name string) Trace {
	if c.closed == nil || len(c.closed.listings) < len(c.Shards) {
		return UnknownTrace
	}
	found := UnknownTrace
	for _, shard := range c.Shards {
		for _, full := range called(current, schema, name) {
			for _, o := range c.closed.reach[shard].routines[full] {
				if o.read.traced {
					return Traced
				}
				found = Traceless
			}
		}
	}
	return found
}

// Triggered returns the table of a trigger, or no name if no shard is known to have the trigger.
func (c *Catalog) Triggered(name TableName) TableName {
	if c.closed == nil {
		return TableName{}
	}
	for _, shard := range c.Shards {
		l := c.closed.listings[shard]
		if l == nil {
			continue
		}
		for i := range l.Programs {
			if p := &l.Programs[i]; p.Type == trigger && p.Schema == name.Schema && strings.EqualFold(p.Name, name.Name) {
				return TableName{p.Schema, p.On}
			}
		}
	}
	return TableName{}
}

// variables returns the user variables that routines and triggers name, sorted.
func variables(listings map[router.ShardName]*Listing) []string {
	named := map[string]bool{}
	for _, l := range listings {
		for i := range l.Programs {
			if p := &l.Programs[i]; p.routine() || p.Type == trigger {
				for _, name := range p.reading().variables {
					named[name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(named))
}

// Variables returns the user variables that the routines and triggers of any shard name, in lower case. It may include other names. Routines
// with dynamic SQL can't be called, so stored code can't assign other variables.
func (c *Catalog) Variables() []string {
	if c.closed == nil {
		return nil
	}
	return c.closed.variables()
}
