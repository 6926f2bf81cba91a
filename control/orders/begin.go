// Package orders is what operators want, whether they say it by a command, on the page
// or in SQL: of moves, to begin one, and what a job is told; of tables, what is declared.
//
// It owns how a move's genes are chosen, what is looked for before it begins, and the
// procedures of the schema locus with their arguments. Of moves and tables it never carries
// anything out: records and declarations are written, and who runs the job, or serves the
// table, obeys. A switchover takes less than a client waits, so who orders it has it done
// before it is answered.
package orders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locus/control/jobs"
	"locus/idgen/gene"
	"locus/migrate"
	"locus/migrate/audit"
	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/preflight"
	"locus/migrate/table"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// Choice chooses the genes of a move among those that a shard owns.
type Choice func(c *cluster.Cluster, owned gene.Set) (gene.Set, error)

// All takes everything that the shard owns.
func All(_ *cluster.Cluster, owned gene.Set) (gene.Set, error) { return owned, nil }

// UpperHalf takes the upper half of what the shard owns.
func UpperHalf(_ *cluster.Cluster, owned gene.Set) (gene.Set, error) {
	return owned.Subtract(owned.First(owned.Len() / 2)), nil
}

// Ranges takes genes that are written like 0x2000-0x3fff,0x5000.
func Ranges(text string) Choice {
	return func(c *cluster.Cluster, _ gene.Set) (gene.Set, error) { return gene.ParseSet(text, c.Routes.Width()) }
}

// How a split hands rows over: one gene after the other, or those of all its genes by their sequences.
const (
	ByGene     = "gene"
	BySequence = "sequence"
)

// Beginning is a move that is to begin.
type Beginning struct {
	Kind     job.Kind
	From, To router.ShardName
	Genes    Choice
	// BySequence divides the genes' rows, in place of handing over one gene after the other.
	BySequence bool
	Tables     map[catalog.TableName]catalog.Declaration // of an import, which has no To and no Genes
	Outside    *job.Outside                              // the server that has an import's tables; nil: a shard has
	Throttle   int                                       // percent of the time that copying, comparing and deleting rest
	Why, By    string
	At         time.Time
	After      int // how many other moves are planned before it, and not yet written
}

// Plan makes the record of a move, which is not written yet. The error says what is
// wrong with the order itself.
func (b Beginning) Plan(ctx context.Context, c *cluster.Cluster, store *jobs.Store) (*job.Job, error) {
	if b.Kind == job.Importing {
		return b.planImport(ctx, c, store)
	}
	genes, err := b.choose(c)
	if err != nil {
		return nil, err
	}
	id, err := nextID(ctx, store, b.Kind, b.After)
	if err != nil {
		return nil, err
	}
	var j *job.Job
	if b.BySequence {
		j, err = job.NewBySequence(id, b.From, b.To, c.Routes.Width(), genes, b.By, b.Why, b.At)
	} else {
		j, err = job.New(id, b.Kind, b.From, b.To, c.Routes.Width(), genes, b.By, b.Why, b.At)
	}
	if err != nil {
		return nil, err
	}
	j.Throttle = b.Throttle
	return j, j.Check()
}

func (b Beginning) choose(c *cluster.Cluster) (gene.Set, error) {
	for _, name := range []router.ShardName{b.From, b.To} {
		if _, there := c.Shards[name]; !there {
			return gene.Set{}, fmt.Errorf("shard %s is not registered; there are %v", name, c.ShardNames())
		}
	}
	owned := c.Routes.GenesOf(b.From)
	if owned.Empty() {
		return gene.Set{}, fmt.Errorf("shard %s owns no genes", b.From)
	}
	genes, err := b.Genes(c, owned)
	if err != nil {
		return gene.Set{}, err
	}
	if others := genes.Subtract(owned); !others.Empty() {
		return gene.Set{}, fmt.Errorf("shard %s does not own genes %s: locus routes show lists the owners", b.From, others)
	}
	if moving := c.Routes.Moving().Intersect(genes); !moving.Empty() {
		return gene.Set{}, fmt.Errorf("another job moves genes %s: finish or abort it first; locus jobs shows it", moving)
	}
	return genes, nil
}

// nextID numbers jobs in the order of their planning, after so many that are not
// written yet.
func nextID(ctx context.Context, store *jobs.Store, kind job.Kind, after int) (string, error) {
	list, err := store.IDs(ctx)
	if err != nil {
		return "", err
	}
	highest := 0
	for _, id := range list {
		if n, err := strconv.Atoi(id[strings.LastIndexByte(id, '-')+1:]); err == nil {
			highest = max(highest, n)
		}
	}
	return fmt.Sprintf("%s-%d", kind, highest+1+after), nil
}

// ErrNoSecrets: the shards can't be asked by this process.
var ErrNoSecrets = errors.New("without these secrets the shards can't be asked")

// Check asks the shards for everything that stands in the way of a move. The error
// is a *Refused, ErrNoSecrets, or says that a shard could not be asked.
func Check(ctx context.Context, j *job.Job, c *cluster.Cluster, store *jobs.Store) error {
	if err := store.Undeclarable(ctx, c); err != nil {
		return err
	}
	tables := jobs.Sharded(c)
	if j.Import != nil {
		tables = j.Import.Tables
	}
	source, err := store.Source(ctx, j)
	if err != nil {
		return errors.Join(err, ErrNoSecrets)
	}
	homes, err := homesOf(ctx, j, c, store)
	if err != nil {
		return errors.Join(err, ErrNoSecrets)
	}
	var found []preflight.Problem
	for _, l := range j.Legs() {
		target, err := store.Shard(ctx, l.To)
		if err != nil {
			return errors.Join(err, ErrNoSecrets)
		}
		replicas, err := migrate.ReplicasOf(ctx, store, j, l)
		if err != nil {
			return errors.Join(err, ErrNoSecrets)
		}
		everywhere, err := migrate.EverywhereOf(ctx, store, j, l.To)
		if err != nil {
			return errors.Join(err, ErrNoSecrets)
		}
		report, err := preflight.Look(ctx, preflight.Config{
			Source: source, Target: target, Replicas: replicas, Tables: tables, Width: j.Width, Genes: l.Genes, Import: j.Import != nil, Outside: j.Outside() != nil,
			BySequence: j.BySequence, Everywhere: everywhere,
		})
		if err != nil {
			return err
		}
		found = merged(found, report.Problems, l.To, j.Import != nil)
		if j.Import != nil && l.To == j.Legs()[0].To {
			more, err := keysOf(ctx, source, j, report.Tables, homes)
			if err != nil {
				return err
			}
			found = append(found, more...)
		}
	}
	if len(found) > 0 {
		return &Refused{found}
	}
	return nil
}

// merged are problems of several legs: what the source has is said once, and of a target which it is.
func merged(found, more []preflight.Problem, to router.ShardName, several bool) []preflight.Problem {
	for _, p := range more {
		if several {
			p.What = strings.ReplaceAll(p.What, "the target", "shard "+string(to))
		}
		if !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	return found
}

// homesOf returns where parents of an import's rows may be: in the tables that are imported with them, or in sharded ones.
func homesOf(ctx context.Context, j *job.Job, c *cluster.Cluster, store *jobs.Store) (audit.Homes, error) {
	if j.Import == nil {
		return audit.Homes{}, nil
	}
	homes := audit.Homes{Here: j.Import.Tables, Spread: jobs.Sharded(c)}
	for _, name := range c.ShardNames() {
		at, err := store.Shard(ctx, name)
		if err != nil {
			return homes, err
		}
		homes.Shards = append(homes.Shards, at)
	}
	return homes, nil
}

// mostParents is the number of parents after which the check before an import looks up only some: the job itself looks up all.
const mostParents = 200_000

// keysOf checks of all rows that are to be imported whether each has an owner and its keys agree.
func keysOf(ctx context.Context, source link.Server, j *job.Job, tables []*table.Table, homes audit.Homes) (found []preflight.Problem, err error) {
	c, err := link.Dial(ctx, source)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for _, t := range tables {
		if t.Declared.Kind == catalog.Global { // its rows have no owners
			continue
		}
		seen, err := keysIn(ctx, c, source, t, j.From, homes)
		if err != nil {
			return nil, err
		}
		n, what := seen.Wrong(gene.Set{})
		if n == 0 {
			continue
		}
		remedy := remedyOf(j.Import.Tables[t.Name])
		if seen.Strangers() > 0 {
			if remedy, err = homes.Remedy(ctx, c, t.Declared); err != nil {
				return nil, err
			}
		}
		found = append(found, preflight.Problem{Check: "keys", What: fmt.Sprintf("table %s has %s", t.Name, what), Remedy: remedy})
	}
	return found, nil
}

// keysIn reads the keys of a table's rows, and looks up their parents.
func keysIn(ctx context.Context, c *link.Conn, source link.Server, t *table.Table, from router.ShardName, homes audit.Homes) (*audit.Misplaced, error) {
	parents, done, err := homes.Open(ctx, t.Declared, source)
	defer done()
	if err != nil {
		return nil, err
	}
	if parents != nil {
		parents.Most = mostParents
	}
	return audit.Rows{Conn: c, Table: t.Declared.ByOwner(), Walk: t, Shard: from, Parents: parents}.Look(ctx)
}

// remedyOf is what to do about rows whose keys don't agree.
func remedyOf(d catalog.Declaration) string {
	const remedy = "correct the rows' owners or IDs"
	if d.Owner == "" || d.ID == nil {
		return remedy
	}
	return remedy + "; if " + d.ID.Column + " has numbers of your own, leave id= out: it stays as it is, and locus makes a column for the gene"
}

// Refused is everything that stands in a move's way.
type Refused struct{ Problems []preflight.Problem }

func (r *Refused) Error() string {
	var lines []string
	for _, p := range r.Problems {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}
