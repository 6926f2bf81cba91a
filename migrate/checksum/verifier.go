package checksum

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"locus/migrate/changes"
	"locus/migrate/checkpoint"
	"locus/migrate/link"
	"locus/migrate/table"
	"locus/router"
)

// Stream reports when the target has applied everything that the source had.
type Stream interface {
	// WaitApplied returns once everything before the position is at the target.
	WaitApplied(ctx context.Context, p changes.Position) error
}

// Config configures a comparison.
type Config struct {
	Job            string
	Source, Target link.Server
	Tables         []*table.Table
	Parts          table.Parts
	// Rows restricts the comparison to these rows of the parts' genes; the zero value means all. A comparison by keys
	// doesn't use it.
	Rows      router.Part
	Parallel  int // lanes compared concurrently; 0 is 2
	PieceRows int // rows per piece; 0 is 5,000
	// Throttle is called before each piece and returns when the piece may be read. nil means no throttling.
	Throttle func(ctx context.Context) error
	// Most bounds how many differences are examined; 0 is 1,000. Further ones are counted.
	Most int
	// Repair makes a row equal, if that is allowed. nil means that nothing is repaired. Lanes call it concurrently. Recheck doesn't use it.
	Repair func(ctx context.Context, d Difference) (Repaired, error)
}

// Repaired is the outcome of a repair.
type Repaired uint8

const (
	Stands  Repaired = iota // The difference is recorded.
	Equal                   // The rows are equal now.
	Changed                 // One of the rows has changed since, so both must be checked again.
	Refused                 // The server refused the row. It may take the row once others are repaired.
)

// Kind is the kind of a difference.
type Kind string

const (
	Missing Kind = "missing" // at the target
	Extra   Kind = "extra"   // at the target
	Differs Kind = "differs"
)

// Difference is a row that differs between the servers.
type Difference struct {
	Table          *table.Table
	Key            table.Key
	Kind           Kind
	Columns        []string // columns that differ
	Source, Target Seen
	// Twin is the row at the target that keeps a missing one off, or nil.
	Twin *table.Twin
}

// Seen is the bounded record of a row as one server had it.
type Seen struct {
	Sum     string // see [table.Row.Sum]
	Version *int64 // nil if there is none, or it is NULL
	Short   string // for display
}

// Look returns the record of a row, with other as the other server's row.
func Look(t *table.Table, r, other table.Row) Seen {
	s := Seen{Sum: r.Sum(), Short: t.Short(r, other)}
	if v, ok := t.VersionOf(r); ok {
		s.Version = &v
	}
	return s
}

func (d Difference) String() string {
	switch d.Kind {
	case Missing:
		if d.Twin != nil {
			return fmt.Sprintf("row %s of %s, which is missing at the target: %s: %s, then locus repair --take source inserts it", d.Key.Short(), d.Table.Name, d.Twin, table.TwinRemedy)
		}
		return fmt.Sprintf("row %s of %s, which is missing at the target", d.Key.Short(), d.Table.Name)
	case Extra:
		return fmt.Sprintf("row %s of %s, which only the target has", d.Key.Short(), d.Table.Name)
	case Differs:
	}
	return fmt.Sprintf("row %s of %s, which differs in %s", d.Key.Short(), d.Table.Name, strings.Join(d.Columns, ", "))
}

// Result is the result of a full comparison.
type Result struct {
	Differences []Difference
	// Unsettled counts rows that changed at every check.
	Unsettled int
	// Beyond counts further rows that seemed to differ after enough were found. They were read only once.
	Beyond int64
}

// Equal reports whether everything was compared and is equal.
func (r Result) Equal() bool { return len(r.Differences) == 0 && r.Unsettled == 0 }

// Verifier compares one job's rows.
type Verifier struct {
	config Config
	stream Stream

	mu      sync.Mutex // guards the fields below
	result  Result
	refused []Difference
	byTable map[string]int64

	rows, pieces atomic.Int64
}

// New prepares a comparison. Run performs it.
func New(config Config, stream Stream) *Verifier {
	if config.Parallel == 0 {
		config.Parallel = 2
	}
	if config.PieceRows == 0 {
		config.PieceRows = 5000
	}
	if config.Most == 0 {
		config.Most = 1000
	}
	return &Verifier{config: config, stream: stream, byTable: map[string]int64{}}
}

// Run compares the rows that were not compared yet. It records each lane's progress at the target; checkpoint.Restart starts
// again from the beginning.
func (v *Verifier) Run(ctx context.Context) (Result, error) {
	states, err := v.resume(ctx)
	if err != nil {
		return Result{}, err
	}
	var lanes []table.Lane
	for _, t := range v.config.Tables {
		only, err := v.only(t)
		if err != nil {
			return Result{}, err
		}
		for _, l := range t.Lanes(v.config.Parts) {
			if !states[l.Name()].Done {
				lanes = append(lanes, l.Only(only))
			}
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan table.Lane, len(lanes))
	for _, l := range lanes {
		queue <- l
	}
	close(queue)
	var comparing sync.WaitGroup
	for range v.config.Parallel {
		comparing.Go(func() {
			for l := range queue {
				if err := v.lane(ctx, l, states[l.Name()]); err != nil {
					cancel(fmt.Errorf("compare %s: %w", l.Table.Name, err))
					return
				}
			}
		})
	}
	comparing.Wait()
	if err := context.Cause(ctx); err != nil {
		return v.result, err
	}
	return v.result, v.repairRefused(ctx)
}

// repairRefused repairs rows that the target has refused because of other rows. It repeats this as long as it
// succeeds for some rows, and records the rest.
func (v *Verifier) repairRefused(ctx context.Context) error {
	for again := true; again; {
		again = false
		left := v.refused
		v.refused = nil
		for _, d := range left {
			did, err := v.config.Repair(ctx, d)
			switch {
			case err != nil:
				return err
			case did == Equal:
				again = true
			default:
				v.refused = append(v.refused, d)
			}
		}
	}
	v.result.Differences = append(v.result.Differences, v.refused...)
	return nil
}

// only returns the condition for the rows to compare.
func (v *Verifier) only(t *table.Table) (string, error) {
	if v.config.Rows.Empty() {
		return "", nil
	}
	return t.Residues(v.config.Rows)
}

func (v *Verifier) resume(ctx context.Context) (map[string]checkpoint.Lane, error) {
	c, err := link.Dial(ctx, v.config.Target)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return checkpoint.Lanes(ctx, c, v.config.Job, checkpoint.Verify)
}

// repair makes a row equal, or records the difference. again reports that the row must be checked again.
func (w *walk) repair(ctx context.Context, d Difference) (again bool, err error) {
	did := Stands
	if w.config.Repair != nil {
		if did, err = w.config.Repair(ctx, d); err != nil {
			return false, err
		}
	}
	switch did {
	case Equal:
		return false, nil
	case Changed:
		return true, nil
	case Stands, Refused:
	}
	return false, w.record(ctx, d, did)
}

// record records a difference. For a missing row, it finds the row that prevents its insertion. A server may
// refuse to compare the values of expressions.
func (w *walk) record(ctx context.Context, d Difference, did Repaired) (err error) {
	if d.Kind == Missing {
		if d.Twin, err = d.Table.TwinOf(ctx, w.source, w.target, d.Key); err != nil && link.Code(err) == 0 {
			return err
		}
	}
	w.clean = false
	w.found(d, did)
	return nil
}

// found records a difference. Concurrent walks may exceed the bound together.
func (v *Verifier) found(d Difference, did Repaired) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if did == Refused {
		v.refused = append(v.refused, d)
		return
	}
	v.result.Differences = append(v.result.Differences, d)
}

// enough reports whether further differences are only counted.
func (v *Verifier) enough() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.result.Differences)+len(v.refused) >= v.config.Most
}

func (v *Verifier) beyond(n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.result.Beyond += int64(n)
}

func (v *Verifier) unsettled(n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.result.Unsettled += n
}

func (v *Verifier) compared(t *table.Table, rows int64) {
	v.rows.Add(rows)
	v.pieces.Add(1)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.byTable[t.Name.String()] += rows
}

// ByTable returns the number of rows compared by table. It is safe for concurrent use.
func (v *Verifier) ByTable() map[string]int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return maps.Clone(v.byTable)
}

// Progress is the progress of a comparison.
type Progress struct{ Rows, Pieces int64 }

// Progress is safe for concurrent use.
func (v *Verifier) Progress() Progress { return Progress{v.rows.Load(), v.pieces.Load()} }
