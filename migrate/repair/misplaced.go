package repair

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"locus/idgen/gene"
	"locus/migrate/audit"
	"locus/migrate/link"
	"locus/migrate/table"
	"locus/router"
	"locus/router/catalog"
)

// Misplaced says which rows are brought home, and how.
type Misplaced struct {
	Shards []router.ShardName
	Tables map[catalog.TableName]catalog.Declaration
	Server func(context.Context, router.ShardName) (link.Server, error)
	// Map gives the route map as it is by now: it is asked before each row, and again before anything is changed.
	Map func(context.Context) (*router.Map, error)
	// Take says whose row stands where the owner has another one; empty: neither is touched.
	Take TakeStray
	// DryRun: nothing is written.
	DryRun bool
	By     string
	// Found is told of each row, and of what became of it.
	Found func(Stray)
	// Progress is told how many rows of a table have been looked at. May be nil.
	Progress func(catalog.TableName, router.ShardName, uint64)
	// Stop is called within each transaction, in tests.
	Stop func(point string)
}

// TakeStray says whose row stands.
type TakeStray string

// What can be taken.
const (
	TakeOwner     TakeStray = "owner"
	TakeMisplaced TakeStray = "misplaced"
	TakeNewer     TakeStray = "newer"
)

// Valid tells whether it can be taken, nothing included.
func (t TakeStray) Valid() bool {
	return t == "" || t == TakeOwner || t == TakeMisplaced || t == TakeNewer
}

// Stray is a row on a shard that does not own it.
type Stray struct {
	Table string           `json:"table"`
	Key   string           `json:"key"`
	On    router.ShardName `json:"on"`
	Owner router.ShardName `json:"owner"`
	// Deed is what is done with it: Leave, if anything is in the way, and then Why.
	Deed Deed   `json:"deed"`
	Why  string `json:"why,omitempty"`
	// OwnersRow and StraysRow are both rows in short, where the owner has another one.
	OwnersRow string `json:"owners_row,omitempty"`
	StraysRow string `json:"misplaced_row,omitempty"`
}

// Deed is what is done with a stray.
type Deed string

// The deeds.
const (
	Delete  Deed = "delete"  // the owner has the same, or its row stands
	Bring   Deed = "move"    // the owner has none: it gets the row, and then it is deleted here
	Replace Deed = "replace" // the owner's row by this one, and then it is deleted here
	Leave   Deed = "leave"
)

// rows are both rows of a key, as far as a decision needs them.
type rows struct {
	owner, stray       string // sums; empty: there is none
	versioned          bool
	ownersAt, straysAt *int64 // versions; nil: NULL, or there is none
}

// Decide is what is done with a stray, or why nothing is.
func (t TakeStray) decide(r rows) (Deed, string) {
	switch {
	case r.stray == "":
		return Leave, "it is gone meanwhile"
	case r.owner == r.stray:
		return Delete, ""
	case r.owner == "":
		return Bring, ""
	}
	switch t {
	case TakeOwner:
		return Delete, ""
	case TakeMisplaced:
		return Replace, ""
	case TakeNewer:
		return newer(r)
	}
	return Leave, "the owner has another row: say --take owner, misplaced or newer"
}

func newer(r rows) (Deed, string) {
	const say = ": say --take owner or misplaced"
	switch {
	case !r.versioned:
		return Leave, "the owner has another row, and the table has no version column" + say
	case r.ownersAt == nil || r.straysAt == nil:
		return Leave, "the owner has another row, and a version is NULL" + say
	case *r.ownersAt > *r.straysAt:
		return Delete, ""
	case *r.ownersAt < *r.straysAt:
		return Replace, ""
	}
	return Leave, fmt.Sprintf("the owner has another row, of the same version %d%s", *r.ownersAt, say)
}

// Run looks at every row of the sharded tables, and brings home those that are on a shard that does not own
// them. A row goes to its owner first, and is deleted then: what ends in between leaves it twice, and the next run deletes
// the one that is misplaced. Rows whose keys are of different genes, or of none, stay where they are: nobody
// knows where they belong.
func (m Misplaced) Run(ctx context.Context) error {
	names := slices.SortedFunc(maps.Keys(m.Tables), catalog.TableName.Compare)
	for _, name := range names {
		if m.Tables[name].Kind != catalog.Sharded {
			continue
		}
		for _, shard := range m.Shards {
			if err := m.table(ctx, name, shard); err != nil {
				return fmt.Errorf("table %s on %s: %w", name, shard, err)
			}
		}
	}
	return nil
}

// strays is one table on one shard.
type strays struct {
	Misplaced
	shard  router.ShardName
	server link.Server
	table  *table.Table
	ways   map[router.ShardName]*both // by the owner
}

// both are the two ways between an owner and the shard with the stray.
type both struct{ home, away *Pair }

func (m Misplaced) table(ctx context.Context, name catalog.TableName, shard router.ShardName) error {
	server, err := m.Server(ctx, shard)
	if err != nil {
		return err
	}
	c, err := link.Dial(ctx, server)
	if err != nil {
		return err
	}
	defer c.Close()
	routes, err := m.Map(ctx)
	if err != nil {
		return err
	}
	t, err := table.Read(ctx, c, name, m.Tables[name], routes.Width())
	if err != nil {
		return err
	}
	s := &strays{Misplaced: m, shard: shard, server: server, table: t, ways: map[router.ShardName]*both{}}
	defer s.close()
	own := routes.GenesOf(shard)
	look := audit.Rows{Conn: c, Table: t.Declared, Walk: t, Shard: shard, Placed: func(k table.Key, g gene.Gene) error {
		if own.Contains(g) { // by a map that may be an old one: then it isn't looked for, and is found by the next run
			return nil
		}
		return s.row(ctx, k, g)
	}}
	if m.Progress != nil {
		look.Progress = func(rows uint64) { m.Progress(name, shard, rows) }
	}
	_, err = look.Look(ctx)
	return err
}

func (s *strays) close() {
	for _, b := range s.ways {
		b.close()
	}
}

func (b *both) close() {
	for _, p := range []*Pair{b.home, b.away} {
		if p != nil {
			p.Close()
		}
	}
}

// errMoves: the gene of a row moves, or is its shard's by now.
var errMoves = errors.New("its gene is being moved, or has moved: look again once no job moves it")

// owner is whose a gene is. A job on it is told of no row here: the job may be about to write it.
func (s *strays) owner(ctx context.Context, g gene.Gene) (router.ShardName, error) {
	m, err := s.Map(ctx)
	if err != nil {
		return "", err
	}
	owner := m.Shard(m.Lookup(g))
	if m.Moving().Contains(g) || owner == s.shard {
		return "", errMoves
	}
	return owner, nil
}

func (s *strays) row(ctx context.Context, k table.Key, g gene.Gene) error {
	one := Stray{Table: s.table.Name.String(), Key: k.Short(), On: s.shard, Deed: Leave}
	owner, err := s.owner(ctx, g)
	switch {
	case errors.Is(err, errMoves):
		if m, _ := s.Map(ctx); m != nil && !audit.Foreign(m, s.shard).Contains(g) {
			return nil // it is where it may be
		}
		one.Why = err.Error()
		s.Found(one)
		return nil
	case err != nil:
		return err
	}
	one.Owner = owner
	b, err := s.way(ctx, owner)
	if err != nil {
		return err
	}
	b.of(gene.NewSet(gene.Range{First: g, Last: g}))
	err = s.bring(ctx, b, k, g, &one)
	if refused(err) {
		one.Deed, one.Why, err = Leave, link.Reason(err), nil
	}
	if err != nil {
		return fmt.Errorf("key %s: %w", one.Key, err)
	}
	s.Found(one)
	return nil
}

// of has rows of other genes left alone, which may have a key that does not tell the gene.
func (b *both) of(genes gene.Set) {
	b.home.Of(genes)
	b.away.Of(genes)
}

// way connects to an owner, once.
func (s *strays) way(ctx context.Context, owner router.ShardName) (*both, error) {
	if b := s.ways[owner]; b != nil && !b.home.Broken() && !b.away.Broken() {
		return b, nil
	}
	if b := s.ways[owner]; b != nil {
		b.close()
		delete(s.ways, owner)
	}
	server, err := s.Server(ctx, owner)
	if err != nil {
		return nil, err
	}
	b := new(both)
	if b.home, err = Open(ctx, s.server, server, gene.Set{}); err == nil {
		b.away, err = Open(ctx, server, s.server, gene.Set{})
	}
	if err != nil {
		b.close()
		return nil, fmt.Errorf("between %s and %s: %w", s.shard, owner, err)
	}
	s.ways[owner] = b
	return b, nil
}

// bring decides about one row, and does it.
func (s *strays) bring(ctx context.Context, b *both, k table.Key, g gene.Gene, one *Stray) error {
	owners, stray, err := b.away.Look(ctx, s.table, k)
	if err != nil {
		return err
	}
	r := rows{owner: owners.Sum(), stray: stray.Sum(), versioned: s.table.Version >= 0, ownersAt: s.version(owners), straysAt: s.version(stray)}
	if one.Deed, one.Why = s.Take.decide(r); r.owner != "" && r.owner != r.stray {
		one.OwnersRow, one.StraysRow = s.table.Short(owners, stray), s.table.Short(stray, owners)
	}
	if s.DryRun || one.Deed == Leave {
		return nil
	}
	change := Change{
		Table: s.table, Key: k, Stop: s.Stop, Job: "verify", By: s.By,
		Hold: func(ctx context.Context, _ *link.Conn) error {
			owner, err := s.owner(ctx, g)
			if err == nil && owner != one.Owner {
				err = errMoves
			}
			return err
		},
	}
	if one.Deed != Delete {
		there := change
		there.Winner, there.Loser, there.Owned, there.Took = r.stray, r.owner, true, "the row on "+string(s.shard)+", which does not own it"
		if done, err := s.did(ctx, b.home, there, one); !done || err != nil {
			return err
		}
		r.owner = r.stray
	}
	change.Winner, change.Loser, change.Gone, change.Took = r.owner, r.stray, true, "the row of the owner, "+string(one.Owner)
	brought := one.Deed != Delete
	done, err := s.did(ctx, b.away, change, one)
	if brought && !done && err == nil {
		one.Why += "; its owner has it now, too"
	}
	return err
}

// did makes one change; one that was not made is told.
func (s *strays) did(ctx context.Context, p *Pair, c Change, one *Stray) (bool, error) {
	o, err := p.Do(ctx, c)
	switch {
	case errors.Is(err, errMoves):
		one.Deed, one.Why = Leave, err.Error()
		return false, nil
	case err != nil:
		return false, err
	}
	switch o.Kind {
	case Changed:
		one.Deed, one.Why = Leave, "it changed meanwhile: look again"
	case Refused:
		one.Deed, one.Why = Leave, o.Why
	case Done, Equal:
	}
	return one.Deed != Leave, nil
}

func (s *strays) version(r table.Row) *int64 {
	if v, ok := s.table.VersionOf(r); ok {
		return &v
	}
	return nil
}
