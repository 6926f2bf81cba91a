package applier

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/migrate/changes"
	"locus/migrate/checkpoint"
	"locus/migrate/link"
	"locus/migrate/table"
)

// Verdict says what becomes of a change.
type Verdict uint8

const (
	// Apply writes it; a version column guards.
	Apply Verdict = iota
	// Drop leaves it: the gene's owner at that position was not the source.
	Drop
	// IfUnchanged writes it if the target's row is as it was before the change,
	// and keeps it as a conflict otherwise: a write that went past the proxies.
	IfUnchanged
)

// Judge gives, for a transaction that follows a position of the stream, what
// becomes of its changes by their genes. It is asked in the stream's order.
type Judge func(before changes.Position) func(gene.Gene, orderid.Residue) Verdict

// Config says what is applied and where.
type Config struct {
	Job    string
	Target link.Server
	Tables []*table.Table // as the source has them; the target has the same
	Parts  table.Parts    // of the moving genes; as many as at the job's beginning
	Judge  Judge          // nil applies everything
	// BySequence: the judge wants rows' residues; else it is told 0.
	BySequence bool
	// Saw is told of every row that the stream brings, of whatever gene. With it a row of
	// which the keys disagree is no error: it is applied where SQL finds it, or nowhere.
	// The dispatcher calls it; nil: nobody wants to know.
	Saw func(*table.Table, table.Row)

	BatchRows  int // of one transaction; 0 is 1,000
	BatchBytes int // 0 is 2 MiB
	// Space bounds the bytes of rows that wait for workers or are written; 0 is 48 MiB.
	Space int

	// Stop is asked at each point that a crash could hit, and ends the worker there
	// with its error; for tests. nil never does.
	Stop func(Point) error
}

// Point is a moment in a worker's transaction.
type Point string

// The points, in their order.
const (
	Begun       Point = "begun"
	Written     Point = "rows written"
	Noted       Point = "checkpoint written"
	Committed   Point = "committed"
	Acknowledge Point = "acknowledged"
)

func (c Config) stop(p Point) error {
	if c.Stop == nil {
		return nil
	}
	return c.Stop(p)
}

// Applier applies one job. Open makes one, Run works, Close ends it.
type Applier struct {
	config  Config
	genes   gene.Set
	epoch   uint64
	workers []*worker
	packet  int // the largest statement that the target takes

	mu       sync.Mutex // of what follows, which other goroutines ask of Run
	openings map[*Opening]struct{}
	landings []*landing
	waiters  []*waiter
	touched  touched
	wake     func() // nil while Run does not run
	err      error  // of Run; read after ended is closed
	ended    chan struct{}

	progress progress
	judged   judged
	space    *space // for the rows that are on their way to the workers
}

type progress struct {
	changes, conflicts, strays, rows, bytes atomic.Int64
}

// Open takes the job over at the target: another process that has it is refused
// from now on. A new job's positions are empty; see Begin.
func Open(ctx context.Context, config Config) (*Applier, error) {
	config.BatchRows = max(config.BatchRows, 0)
	if config.BatchRows == 0 {
		config.BatchRows = 1000
	}
	if config.BatchBytes == 0 {
		config.BatchBytes = 2 << 20
	}
	if config.Space == 0 {
		config.Space = spaceBytes
	}
	c, err := link.Dial(ctx, config.Target)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := checkpoint.Create(ctx, c); err != nil {
		return nil, err
	}
	a := &Applier{config: config, genes: config.Parts.All(), openings: map[*Opening]struct{}{}, ended: make(chan struct{}), space: newSpace(config.Space)}
	if a.packet, err = maxPacket(ctx, c); err != nil {
		return nil, err
	}
	epoch, stored, err := checkpoint.TakeOver(ctx, c, config.Job, len(config.Parts))
	if err != nil {
		return nil, err
	}
	a.epoch = epoch
	for i, s := range stored {
		start, err := changes.Decode(s.Position)
		if err != nil {
			return nil, fmt.Errorf("job %s, worker %d: %w", config.Job, i, err)
		}
		a.workers = append(a.workers, newWorker(a, i, s.Batch, start))
		a.progress.changes.Add(int64(s.Changes))
		a.progress.conflicts.Add(int64(s.Conflicts))
	}
	return a, nil
}

// Epoch is by which the job is this process's at the target; see [checkpoint.Hold].
func (a *Applier) Epoch() uint64 { return a.epoch }

func maxPacket(ctx context.Context, c *link.Conn) (int, error) {
	rows, err := c.Query(ctx, "SELECT @@max_allowed_packet")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(rows[0][0]))
}

// ErrNotBegun: the job has no position yet. See Begin.
var ErrNotBegun = errors.New("the job has no position to go on from")

// From is the position that a feed for Run must begin at.
func (a *Applier) From() (changes.Position, error) {
	least := a.workers[0].start
	for _, w := range a.workers {
		if w.start.IsZero() {
			return changes.Position{}, ErrNotBegun
		}
		if least.Covers(w.start) {
			least = w.start
		}
	}
	return least, nil
}

// Begin writes the job's first position, in place of any that it has. Rows that are copied must be read after it.
func (a *Applier) Begin(ctx context.Context, p changes.Position) error {
	c, err := link.Dial(ctx, a.config.Target)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, w := range a.workers {
		w.batch++
		o, err := c.Exec(ctx, w.advance(p.Encode(), 0, 0).SQL())
		if err == nil && o.Affected != 1 {
			err = checkpoint.ErrFenced
		}
		if err != nil {
			return fmt.Errorf("begin job %s: %w", a.config.Job, err)
		}
		w.start = p
	}
	return nil
}

// Progress is how far the applier is.
type Progress struct {
	Changes   int64 // of rows, applied since the job began
	Conflicts int64 // refused since the job began
	Strays    int64 // changes by who is not the owner, applied or refused since Open
	Rows      int64 // copied since Open
	Bytes     int64
}

// Progress may be asked at any time.
func (a *Applier) Progress() Progress {
	p := &a.progress
	return Progress{
		Changes: p.changes.Load(), Conflicts: p.conflicts.Load(), Strays: p.strays.Load(), Rows: p.rows.Load(), Bytes: p.bytes.Load(),
	}
}
