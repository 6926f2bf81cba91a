package newshard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"locus/idgen/gene"
	"locus/migrate/copies"
	"locus/migrate/link"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// Cluster holds the old and the new declaration, and gives access to the shards.
type Cluster struct {
	Old, Next *cluster.Cluster // Old is nil for the first declaration
	Server    func(router.ShardName) (link.Server, error)
	// Ordered is a shard whose rows are made equal to the first shard's even if they are no copies; empty for
	// none.
	Ordered router.ShardName
}

// Lacking lists what one shard lacks.
type Lacking struct {
	Shard     router.ShardName
	Databases []string
	Tables    []catalog.TableName
	Routines  []copies.Routine
	Views     []catalog.TableName
	// Rows lists the global tables whose rows must be made equal.
	Rows []catalog.TableName

	known         bool // proxies already write to it
	first, server link.Server
}

// Nothing reports whether the shard has everything.
func (l *Lacking) Nothing() bool { return l.Makes() == nil && len(l.Rows) == 0 }

// Makes describes what will be created, one line each.
func (l *Lacking) Makes() (lines []string) {
	for _, d := range l.Databases {
		lines = append(lines, "database "+d)
	}
	for _, t := range l.Tables {
		lines = append(lines, "table "+t.String())
	}
	for _, r := range l.Routines {
		lines = append(lines, r.String())
	}
	for _, v := range l.Views {
		lines = append(lines, "view "+v.String())
	}
	return lines
}

// Plan lists what the shards without genes lack.
type Plan struct {
	Lacking []*Lacking
	cluster Cluster
}

// candidates returns the shards that no statement reads: those without genes, which no job gives genes to. The
// first shard is read even without genes.
func (c *Cluster) candidates() (names []router.ShardName) {
	for _, name := range c.Next.ShardNames() {
		switch {
		case name == c.Next.Settings.DefaultShard || owns(c.Next, name) || c.Old != nil && owns(c.Old, name):
		case c.Old != nil && name == c.Old.Settings.DefaultShard:
		default:
			names = append(names, name)
		}
	}
	return names
}

func (c *Cluster) knows(name router.ShardName) (known bool) {
	if c.Old != nil {
		_, known = c.Old.Shards[name]
	}
	return known
}

func owns(c *cluster.Cluster, name router.ShardName) bool {
	return !c.Routes.GenesOf(name).Empty() || slices.ContainsFunc(c.Routes.Moves(), func(m router.Move) bool { return m.To == name || m.From == name })
}

// Look finds out what the shards without genes lack, and changes nothing. The error lists all existing objects
// that must not be overwritten, or a failed query.
func Look(ctx context.Context, c Cluster) (*Plan, error) {
	p := &Plan{cluster: c}
	names := c.candidates()
	if c.Ordered != "" && !slices.Contains(names, c.Ordered) {
		return nil, fmt.Errorf("shard %s owns genes, or is about to, or is the first shard: clients read it, and its rows are not overwritten; locus verify tells which differ", c.Ordered)
	}
	if len(names) == 0 {
		return p, nil
	}
	at, err := c.Server(c.Next.Settings.DefaultShard)
	if err != nil {
		return nil, err
	}
	first, err := dial(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("shard %s: %w", c.Next.Settings.DefaultShard, err)
	}
	defer first.Close()
	var problems []error
	for _, name := range names {
		l := &Lacking{Shard: name, first: at, known: c.knows(name)}
		if c.Ordered != "" && name != c.Ordered {
			continue
		}
		if err := p.look(ctx, first, l); err != nil {
			problems = append(problems, fmt.Errorf("shard %s: %w", name, err))
		} else if !l.Nothing() {
			p.Lacking = append(p.Lacking, l)
		}
	}
	return p, errors.Join(problems...)
}

// dial opens a connection for reading and writing definitions, whose texts are exchanged in utf8mb4.
func dial(ctx context.Context, at link.Server) (*link.Conn, error) {
	c, err := link.Dial(ctx, at)
	if err != nil {
		return nil, err
	}
	if _, err := c.Exec(ctx, "SET NAMES utf8mb4"); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// declared returns the tables that every shard has, sorted.
func (p *Plan) declared() (names []catalog.TableName) {
	for _, name := range slices.SortedFunc(maps.Keys(p.cluster.Next.Tables), catalog.TableName.Compare) {
		switch p.cluster.Next.Tables[name].Kind {
		case catalog.Sharded, catalog.Global:
			names = append(names, name)
		case catalog.Single, catalog.Outside:
		}
	}
	return names
}

func (p *Plan) look(ctx context.Context, first *link.Conn, l *Lacking) (err error) {
	if l.server, err = p.cluster.Server(l.Shard); err != nil {
		return err
	}
	c, err := dial(ctx, l.server)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := p.another(ctx, c, l); err != nil {
		return err
	}
	here, err := listed(ctx, first)
	if err != nil {
		return err
	}
	there, err := listed(ctx, c)
	if err != nil {
		return err
	}
	for _, name := range p.declared() {
		if here.tables[name] && !there.tables[name] {
			l.Tables = append(l.Tables, name)
		}
	}
	views, err := copies.Views(ctx, first, p.cluster.Next.Tables)
	if err != nil {
		return err
	}
	for _, name := range views {
		if !there.tables[name] {
			l.Views = append(l.Views, name)
		}
	}
	routines, err := copies.Routines(ctx, first)
	if err != nil {
		return err
	}
	names := slices.Concat(l.Tables, l.Views)
	for _, r := range routines {
		if !there.routines[r.Folded()] {
			l.Routines = append(l.Routines, r)
			names = append(names, r.TableName)
		}
	}
	for _, name := range names {
		if !there.schemas[name.Schema] && !slices.Contains(l.Databases, name.Schema) {
			l.Databases = append(l.Databases, name.Schema)
		}
	}
	return p.rows(ctx, first, c, l, here)
}

// another returns an error for a server that already belongs to another shard, even if it has another address there.
func (p *Plan) another(ctx context.Context, c *link.Conn, l *Lacking) error {
	own, err := identity(ctx, c)
	if err != nil {
		return err
	}
	for _, name := range p.cluster.Next.ShardNames() {
		if name == l.Shard {
			continue
		}
		at, err := p.cluster.Server(name)
		if err != nil {
			return err
		}
		other, err := link.Dial(ctx, at)
		if err != nil {
			return fmt.Errorf("check that it is not the server of shard %s: %w", name, err)
		}
		theirs, err := identity(ctx, other)
		_ = other.Close()
		if err != nil {
			return err
		}
		if theirs == own {
			return fmt.Errorf("its server is that of shard %s: two shards can't be one server", name)
		}
	}
	return nil
}

func identity(ctx context.Context, c *link.Conn) (string, error) {
	rows, err := c.Query(ctx, "SELECT CONCAT_WS(' ', @@hostname, @@port, @@datadir, @@server_id)")
	if err != nil {
		return "", err
	}
	return string(rows[0][0]), nil
}

// listing holds the names of a server's objects. Tables and views share a map.
type listing struct {
	tables   map[catalog.TableName]bool
	routines map[copies.Routine]bool // in lower case
	schemas  map[string]bool
}

func listed(ctx context.Context, c *link.Conn) (listing, error) {
	l := listing{map[catalog.TableName]bool{}, nil, map[string]bool{}}
	rows, err := c.Query(ctx, "SELECT SCHEMA_NAME, NULL FROM information_schema.SCHEMATA UNION ALL SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES")
	for _, r := range rows {
		if r[1] == nil {
			l.schemas[string(r[0])] = true
		} else {
			l.tables[catalog.TableName{Schema: string(r[0]), Name: string(r[1])}] = true
		}
	}
	if err != nil {
		return l, err
	}
	l.routines, err = copies.RoutineNames(ctx, c)
	return l, err
}

// rows finds the global tables whose rows must be made equal. For a new shard, these are all of them. For a known shard, these
// are the tables that its notebook lists as incomplete. Other rows that a new shard already has must equal the first shard's,
// because they may be data that an application needs.
func (p *Plan) rows(ctx context.Context, first, c *link.Conn, l *Lacking, here listing) error {
	noted, err := notes(ctx, c)
	if err != nil {
		return err
	}
	var problems []error
	for _, name := range p.declared() {
		d := p.cluster.Next.Tables[name]
		missing := slices.Contains(l.Tables, name)
		ours := missing || noted[name] || l.Shard == p.cluster.Ordered
		if d.Kind != catalog.Global || l.known && !ours || !here.tables[name] {
			continue
		}
		fills, err := p.mayFill(ctx, first, c, l, name, missing, ours)
		if err != nil {
			problems = append(problems, err)
		} else if fills {
			l.Rows = append(l.Rows, name)
		}
	}
	return errors.Join(problems...)
}

// mayFill reports whether a table's rows must be made equal. It returns an error if they must not be
// overwritten.
func (p *Plan) mayFill(ctx context.Context, first, c *link.Conn, l *Lacking, name catalog.TableName, missing, ours bool) (bool, error) {
	firstShard := p.cluster.Next.Settings.DefaultShard
	compared := c
	if missing { // compare the first shard with itself, to see whether the table can be compared at all
		again, err := link.Dial(ctx, l.first)
		if err != nil {
			return false, err
		}
		defer again.Close()
		compared = again
	}
	pair, err := copies.Read(ctx, first, compared, name, p.cluster.Next.Tables[name], p.width())
	if _, unreadable := errors.AsType[*copies.UnreadableError](err); unreadable {
		same := missing && empty(ctx, first, name)
		if !missing {
			var asked error
			if same, asked = copies.Counted(ctx, first, c, name); asked != nil {
				return false, asked
			}
		}
		if same {
			return false, nil
		}
		return false, fmt.Errorf("the rows of global table %s can't be compared (%w): fix that, or create the table on %s by hand with the rows of %s, while no client writes them", name, err, l.Shard, firstShard)
	}
	if _, misfits := errors.AsType[*copies.MisfitError](err); misfits {
		return false, fmt.Errorf("global table %s has other columns there than on %s, or another primary key: make both the same (SHOW CREATE TABLE), or drop it there", name, firstShard)
	}
	if err != nil || ours || empty(ctx, c, name) {
		return true, err
	}
	found, err := pair.Compare(ctx, 0)
	if err == nil && len(found.Keys) > 0 {
		err = fmt.Errorf("global table %s has rows there that are not those of %s, such as of key %s: if nothing needs them, TRUNCATE TABLE %s on %s, and it gets those of %s",
			name, firstShard, found.Keys[0].Short(), name, l.Shard, firstShard)
	}
	return true, err
}

func (p *Plan) width() gene.Width { return p.cluster.Next.Routes.Width() }

// empty reports whether a table has no rows; false if the query fails.
func empty(ctx context.Context, c *link.Conn, name catalog.TableName) bool {
	rows, err := c.Query(ctx, "SELECT 1 FROM "+spelled(name)+" LIMIT 1")
	return err == nil && len(rows) == 0
}

func spelled(name catalog.TableName) string {
	return link.Name(name.Schema) + "." + link.Name(name.Name)
}

// Present returns the next cluster twice: without the shards that lack tables, and with these shards but
// without the missing tables. So existing tables can be checked before anything is created.
func (p *Plan) Present() (shards, tables *cluster.Cluster) {
	without, with := *p.cluster.Next, *p.cluster.Next
	without.Shards, with.Tables = maps.Clone(without.Shards), maps.Clone(with.Tables)
	for _, l := range p.Lacking {
		if len(l.Tables) == 0 {
			continue
		}
		delete(without.Shards, l.Shard)
		for _, name := range l.Tables {
			delete(with.Tables, name)
		}
	}
	return &without, &with
}
