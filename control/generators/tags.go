package generators

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"locus/idgen"
	"locus/idgen/format"
	"locus/idgen/row"
	"locus/idgen/segment"
	"locus/router/cluster"
)

// tags serves the rows of an existing table, each with its own numbers. It knows a tag within a minute after
// its row was inserted, and refuses unknown tags from memory.
type tags struct {
	rows  *row.Table
	where string
	open  func(tag string) (*segment.Numbers, error)

	mu    sync.Mutex // guards the fields below; never held during a query
	made  map[string]*segment.Numbers
	ended bool
}

// mostTags bounds the number of tags of one table that a process serves.
const mostTags = 10_000

// everyTag opens a generator for every tag of a table. It sends no query yet.
func (m maker) everyTag(name, counter string) error {
	d := m.declared.Generators[name]
	s := *d.Store.MySQL
	db, err := m.database(s.Shard)
	if err != nil {
		return err
	}
	t := &tags{where: fmt.Sprintf("%s on shard %s", s.Table, s.Shard), made: map[string]*segment.Numbers{}}
	if t.rows, err = row.Open(db, s.Table, time.Now); err != nil {
		return err
	}
	t.open = func(tag string) (*segment.Numbers, error) {
		return m.numbersOf(m.ofRow(t.rows, s, tag), counter+"/tag/"+tag, d)
	}
	m.into.tags = t
	m.into.atEnd(t.end)
	m.into.reports(t.report)
	return nil
}

// of returns the numbers of a tag, or segment.ErrUnknownTag if the table has no such row. A tag that was served before needs
// no query. Until its segment is used up, it doesn't even need a reachable table.
func (t *tags) of(ctx context.Context, tag string) (idgen.Numbers, error) {
	t.mu.Lock()
	served := t.made[tag]
	t.mu.Unlock()
	if served != nil {
		return served, nil
	}
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := t.rows.Has(bounded, tag); err != nil {
		return nil, fmt.Errorf("tag %s of %s: %w", tag, t.where, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.made[tag]; n != nil {
		return n, nil
	}
	switch {
	case t.ended:
		return nil, errEnded
	case len(t.made) >= mostTags:
		return nil, fmt.Errorf("tag %s of %s: this process serves %d other tags, and no more: declare a generator for it", tag, t.where, mostTags)
	}
	n, err := t.open(tag)
	if err != nil {
		return nil, err
	}
	t.made[tag] = n
	return n, nil
}

func (t *tags) end() {
	t.mu.Lock()
	t.ended = true
	made := t.made
	t.mu.Unlock()
	for _, n := range made {
		_ = n.Close(context.Background())
	}
}

// report adds the counts of all tags to st.
func (t *tags) report(st *Status) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range t.made {
		st.left("sequence", n.Share())
		c := n.Counts()
		st.Counts = segment.Counts{Loads: st.Loads + c.Loads, Failed: st.Failed + c.Failed, Waits: st.Waits + c.Waits}
	}
}

// numbersOfTag returns the numbers of the tag in a request.
func (g *generator) numbersOfTag(ctx context.Context, r Request) (idgen.Numbers, error) {
	tag, given := r.Context[cluster.TagContext]
	if !given {
		return nil, format.ValueError(fmt.Sprintf("it has numbers for each tag of %s: name one, as tag=…", g.tags.where))
	}
	return g.tags.of(ctx, tag)
}

// withTag resolves a name that no generator has as a tag. It searches the tables of the generators that serve
// every tag, in the order of the generators' names. It returns the request unchanged if no table has the tag.
// If a table can't be read, it may have the tag, so withTag returns an error instead of using a later table.
func (s *Set) withTag(ctx context.Context, r Request) (Request, error) {
	if _, known := r.Declared.Generators[r.Name]; known {
		return r, nil
	}
	for _, name := range r.Declared.GeneratorNames() {
		if !r.Declared.Generators[name].EveryTag() {
			continue
		}
		g, err := s.generator(ctx, r.Declared, name)
		if err != nil {
			return r, fmt.Errorf("generator %s: %w", name, err)
		}
		switch _, err := g.tags.of(ctx, r.Name); {
		case err == nil:
			of := map[string]string{}
			maps.Copy(of, r.Context)
			of[cluster.TagContext] = r.Name
			r.Name, r.Context = name, of
			return r, nil
		case !errors.Is(err, segment.ErrUnknownTag):
			return r, fmt.Errorf("generator %s: %w", name, err)
		}
	}
	return r, nil
}
