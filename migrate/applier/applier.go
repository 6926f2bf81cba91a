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

// Verdict is the decision about a change.
type Verdict uint8

const (
	// Apply writes the change whatever its version: it is the owner's. If the target's row is not as it was before the
	// change, that is recorded first.
	Apply Verdict = iota
	// Drop ignores the change: at that position the source did not own the gene.
	Drop
	// IfUnchanged writes the change if the target's row is as it was before the change and has no newer version. Otherwise
	// it records a conflict: a write that past the proxies.
	IfUnchanged
)

// Judge returns the verdicts on the changes of the transaction that a position of the stream is within. It is called in
// the stream's order.
type Judge func(changes.Position) (Verdicts, error)

// Verdicts returns the verdict on a change by the gene and the residue of its row. It may wait until the verdict is
// known.
type Verdicts func(context.Context, gene.Gene, orderid.Residue) (Verdict, error)

// Config configures an Applier.
type Config struct {
	Job    string
	Target link.Server
	Tables []*table.Table // as on the source; the target has the same definitions
	Parts  table.Parts    // the moving genes, in parts; their number is fixed for the job
	Judge  Judge          // nil applies everything
	// Copied reports whether the target has had all rows. A row that it lacks then was deleted there. nil is never.
	Copied func() bool
	// BySequence: the judge needs rows' residues. Otherwise it gets 0.
	BySequence bool
	// Saw is called by the dispatcher with every row that the stream brings, of any gene. It may be nil. If it is set,
	// a row whose keys disagree is no error. It is applied where SQL finds it, or nowhere.
	Saw func(*table.Table, table.Row)

	BatchRows  int // maximum for one transaction; 0 is 1,000
	BatchBytes int // 0 is 2 MiB
	// Space bounds the bytes of rows that wait for workers or are being written; 0 is 48 MiB.
	Space int

	// Stop is called at each point where a crash is possible, for tests. Its error ends the worker. nil never stops.
	Stop func(Point) error
}

// Point is a point in a worker's transaction.
type Point string

// Points in order.
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

// Applier applies one job's changes. Open makes it, Run runs it, Close ends it.
type Applier struct {
	config  Config
	genes   gene.Set
	epoch   uint64
	workers []*worker
	packet  int // the largest statement that the target accepts

	mu        sync.Mutex // guards the fields below, through which other goroutines make requests to Run
	requested []request
	openings  map[*Opening]struct{}
	landings  []*landing
	waiters   []*waiter
	touched   touched
	wake      func() // nil unless Run runs
	err       error  // result of Run; read after ended is closed
	ended     chan struct{}

	progress progress
	judged   judged
	space    *space // bounds the rows that are queued for the workers
}

type progress struct {
	changes, conflicts, overwritten, strays, rows, bytes atomic.Int64
}

// Open takes over the job at the target. Any other process that has it is refused from now on. The positions of a new
// job are empty; see Begin.
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
	a.judged = judged{begun: true, split: true} // the first change may continue a transaction that was judged before
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

// Epoch returns the epoch under which this process holds the job at the target; see [checkpoint.Hold].
func (a *Applier) Epoch() uint64 { return a.epoch }

func maxPacket(ctx context.Context, c *link.Conn) (int, error) {
	rows, err := c.Query(ctx, "SELECT @@max_allowed_packet")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(rows[0][0]))
}

// ErrNotBegun means that the job has no position yet. See Begin.
var ErrNotBegun = errors.New("the job has no position to go on from")

// From returns the position at which a feed for Run must begin.
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

// Begin records the job's first position, replacing any other. Rows must be copied after it.
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

// Progress is the applier's progress.
type Progress struct {
	Changes   int64 // rows changed since the job began
	Conflicts int64 // changes refused since the job began
	// Overwritten is the number of rows, since Open, that a change of the owner replaced although they differed
	// from the row before the change at the owner.
	Overwritten int64
	Strays      int64 // changes by a shard that isn't the owner, applied or refused since Open
	Rows        int64 // rows copied since Open
	Bytes       int64
}

// Progress is safe for concurrent use.
func (a *Applier) Progress() Progress {
	p := &a.progress
	return Progress{
		Changes: p.changes.Load(), Conflicts: p.conflicts.Load(), Overwritten: p.overwritten.Load(), Strays: p.strays.Load(), Rows: p.rows.Load(), Bytes: p.bytes.Load(),
	}
}
