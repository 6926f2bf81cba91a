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

// Misplaced is a request to move misplaced rows to their owners.
type Misplaced struct {
	Shards []router.ShardName
	Tables map[catalog.TableName]catalog.Declaration
	Server func(context.Context, router.ShardName) (link.Server, error)
	// Map returns the current route map. It is called before each row, and again before anything is changed.
	Map func(context.Context) (*router.Map, error)
	// Take selects the row that wins if the owner has another row with the same key; empty: both rows are left unchanged.
	Take TakeStray
	// DryRun: nothing is written.
	DryRun bool
	By     string
	// Found is called with each row and the result of its repair.
	Found func(Stray)
	// Progress is called with the number of checked rows of a table. May be nil.
	Progress func(catalog.TableName, router.ShardName, uint64)
	// Stop is called within each transaction, in tests.
	Stop func(point string)
}

// TakeStray selects the row that wins.
type TakeStray string

// The valid selections.
const (
	TakeOwner     TakeStray = "owner"
	TakeMisplaced TakeStray = "misplaced"
	TakeNewer     TakeStray = "newer"
)

// Valid reports whether t is a valid selection. The empty one is valid.
func (t TakeStray) Valid() bool {
	return t == "" || t == TakeOwner || t == TakeMisplaced || t == TakeNewer
}

// Stray is a row on a shard that does not own it.
type Stray struct {
	Table string           `json:"table"`
	Key   string           `json:"key"`
	On    router.ShardName `json:"on"`
	Owner router.ShardName `json:"owner"`
	// Deed is the action on the row. If it is Leave, Why is the reason.
	Deed Deed   `json:"deed"`
	Why  string `json:"why,omitempty"`
	// OwnersRow and StraysRow are short forms of both rows, where the owner has another one.
	OwnersRow string `json:"owners_row,omitempty"`
	StraysRow string `json:"misplaced_row,omitempty"`
}

// Deed is the action for a stray row.
type Deed string

// The actions.
const (
	Delete  Deed = "delete"  // delete it here: the owner has the same row, or the owner's row wins
	Bring   Deed = "move"    // the owner has no row: insert it there, then delete it here
	Replace Deed = "replace" // replace the owner's row by this one, then delete it here
	Leave   Deed = "leave"
)

// rows contains the facts about both rows of a key that a decision needs.
type rows struct {
	owner, stray       string // checksums; empty if there is no row
	versioned          bool
	ownersAt, straysAt *int64 // versions; nil for NULL or no row
}

// decide returns the action for a stray row. For Leave, it also returns the reason.
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
	return Leave, "the owner has another row: use --take owner, misplaced or newer"
}

func newer(r rows) (Deed, string) {
	const say = ": use --take owner or misplaced"
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

// Run checks every row of the sharded tables and moves misplaced rows to their owners. A row is first written
// at its owner and then deleted here. If the process ends in between, the row exists twice, and the next run
// deletes the misplaced one. Rows whose keys have different genes, or no gene, stay where they are, because
// their owner is unknown.
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

// strays checks one table on one shard.
type strays struct {
	Misplaced
	shard  router.ShardName
	server link.Server
	table  *table.Table
	ways   map[router.ShardName]*both // by owner
}

// both holds the two directions between an owner and the shard with the stray row.
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
		if own.Contains(g) { // the map may be old; the next run then finds the row
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

// errMoves reports that a job moves the gene of a row, or that the shard now owns it.
var errMoves = errors.New("its gene is being moved, or has moved: repeat the command once no job moves it")

// owner returns the owner of a gene. It refuses genes that a job moves, because the job may be about to write
// the row.
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
			return nil // this shard may have the row now
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

// of limits both directions to rows of the given genes. Rows of other genes may have a key that does not contain the gene.
func (b *both) of(genes gene.Set) {
	b.home.Of(genes)
	b.away.Of(genes)
}

// way returns the connections to an owner, and opens them at the first call.
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

// bring decides about one row and repairs it.
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

// did makes one change. It reports in one why a change was not made.
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
		one.Deed, one.Why = Leave, "it has changed in the meantime: repeat the command"
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
