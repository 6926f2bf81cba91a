package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"locus/migrate/checkpoint"
	"locus/migrate/checksum"
	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/phase"
	"locus/migrate/repair"
	"locus/migrate/table"
)

// repairs makes rows equal that a comparison found different, as the operator requested, while streams run and
// clients write. It is idempotent: it skips equal rows, and a row that has changed since the operator saw it
// gets a new number, which the request does not contain.
type repairs struct {
	store Store
	legs  legs
	stop  func(point string)
}

func (a repairs) do(ctx context.Context, s Snapshot) (*phase.Event, error) {
	list, err := a.store.Differences(ctx, s.Job.ID)
	if err != nil {
		return nil, err
	}
	r := repairing{repairs: a, job: s.Job.ID, order: s.Job.Repair, pairs: map[way]*repair.Pair{}, outcomes: map[int]repair.Outcome{}}
	defer r.close()
	if err := r.all(ctx, list.Rows); err != nil {
		return nil, err
	}
	left := r.left(list)
	if err := a.store.List(ctx, s.Job.ID, left); err != nil {
		return nil, err
	}
	return &phase.Event{Kind: phase.Repaired, Rows: len(left.Rows), Why: r.told(left)}, nil
}

// repairing is one running repair request.
type repairing struct {
	repairs
	job      string
	order    *job.Repair
	pairs    map[way]*repair.Pair
	outcomes map[int]repair.Outcome // by row number
}

// way is a direction of a repair: a leg and the side whose rows win.
type way struct {
	leg    *leg
	winner job.Side
}

func (r *repairing) close() {
	for _, p := range r.pairs {
		p.Close()
	}
}

// all repairs the rows. It retries rows that a server has refused as long as other rows were repaired, because
// a unique value may have to pass from one row to another.
func (r *repairing) all(ctx context.Context, rows []job.Difference) error {
	for again := true; again; {
		repaired, refused := 0, 0
		for _, d := range rows {
			if last, done := r.outcomes[d.Number]; !r.order.Has(d.Number) || done && last.Kind != repair.Refused {
				continue
			}
			o, err := r.row(ctx, d)
			if err != nil {
				return fmt.Errorf("repair row %d, %s %s: %w", d.Number, d.Table, d.KeyText, err)
			}
			r.outcomes[d.Number] = o
			switch o.Kind {
			case repair.Done:
				repaired++
			case repair.Refused:
				refused++
			case repair.Equal, repair.Changed:
			}
		}
		again = repaired > 0 && refused > 0
	}
	return nil
}

func (r *repairing) row(ctx context.Context, d job.Difference) (repair.Outcome, error) {
	winner, why := d.Decide(r.order.Take)
	if why != "" {
		return repair.Outcome{Kind: repair.Refused, Why: why}, nil
	}
	l, t := r.find(d)
	if t == nil {
		return repair.Outcome{Kind: repair.Refused, Why: "the job has no table " + d.Table + " any more"}, nil
	}
	key, err := table.DecodeKey(d.Key, len(t.Key.Columns))
	if err != nil {
		return repair.Outcome{}, err
	}
	p, err := r.pair(ctx, way{l, winner})
	if err != nil {
		return repair.Outcome{}, err
	}
	loser := winner.Other()
	return p.Do(ctx, repair.Change{
		Table: t, Key: key, Winner: d.Of(winner).Sum, Loser: d.Of(loser).Sum, Owned: loser == d.Owner,
		Hold: l.hold(loser), Stop: r.stop, Job: r.job, Took: "the row of the " + string(winner), By: r.order.By,
	})
}

// find returns the leg and the table of a row.
func (r *repairing) find(d job.Difference) (*leg, *table.Table) {
	for _, l := range r.legs {
		if l.id != d.Leg {
			continue
		}
		for _, t := range l.shards.tables {
			if t.Name.String() == d.Table {
				return l, t
			}
		}
	}
	return nil, nil
}

// pair returns the connections for a direction, and opens them at the first call.
func (r *repairing) pair(ctx context.Context, w way) (*repair.Pair, error) {
	if p := r.pairs[w]; p != nil && !p.Broken() {
		return p, nil
	}
	if p := r.pairs[w]; p != nil {
		p.Close()
		delete(r.pairs, w)
	}
	p, err := repair.Open(ctx, w.leg.at(w.winner), w.leg.at(w.winner.Other()), w.leg.genes)
	if err == nil {
		r.pairs[w] = p
	}
	return p, err
}

// at returns a leg's server.
func (l *leg) at(s job.Side) link.Server {
	if s == job.AtSource {
		return l.shards.source
	}
	return l.shards.target
}

// hold returns a function that keeps the stream which writes to a side owned by this process; nil if no stream
// writes there.
func (l *leg) hold(at job.Side) func(context.Context, *link.Conn) error {
	st, name := l.streams.forward, l.id
	if at == job.AtSource {
		st, name = l.streams.back, backJob(l.id)
	}
	if st == nil {
		return nil
	}
	return func(ctx context.Context, c *link.Conn) error { return checkpoint.Hold(ctx, c, name, st.Epoch()) }
}

// left returns the list without the rows that are equal now. Rows that have changed get a new number.
func (r *repairing) left(list job.Differences) job.Differences {
	left := job.Differences{Last: list.Last, Beyond: list.Beyond}
	var anew []job.Difference
	for _, d := range list.Rows {
		o, tried := r.outcomes[d.Number]
		switch {
		case !tried:
			left.Rows = append(left.Rows, d)
		case o.Kind == repair.Refused:
			d.Left = o.Why
			left.Rows = append(left.Rows, d)
		case o.Kind == repair.Changed:
			if d, differs := r.again(d, o); differs {
				anew = append(anew, d)
			}
		}
	}
	for _, d := range anew {
		left.Add(d)
	}
	return left
}

// again returns a row with its latest state.
func (r *repairing) again(d job.Difference, o repair.Outcome) (job.Difference, bool) {
	winner, _ := d.Decide(r.order.Take)
	_, t := r.find(d)
	source, target := o.Winner, o.Loser
	if winner == job.AtTarget {
		source, target = target, source
	}
	d.Source, d.Target = job.Image(checksum.Look(t, source, target)), job.Image(checksum.Look(t, target, source))
	d.Columns = nil
	for _, i := range table.Differing(source, target) {
		d.Columns = append(d.Columns, t.Columns[i].Name)
	}
	d.Left = "it has changed in the meantime: list it again"
	return d, d.Source.Sum != d.Target.Sum
}

// told returns a summary of the repair for the journal.
func (r *repairing) told(left job.Differences) string {
	counts := map[repair.Kind]int{}
	for _, o := range r.outcomes {
		counts[o.Kind]++
	}
	var said []string
	for _, k := range []repair.Kind{repair.Done, repair.Equal, repair.Changed, repair.Refused} {
		if n := counts[k]; n > 0 {
			said = append(said, fmt.Sprintf("%d %s", n, k))
		}
	}
	if missing := len(r.order.Rows) - len(r.outcomes); missing > 0 {
		said = append(said, fmt.Sprintf("%d no longer listed", missing))
	}
	if n := len(left.Rows); n > 0 {
		said = append(said, fmt.Sprintf("%d of the listed rows left", n))
	}
	if i := slices.IndexFunc(left.Rows, func(d job.Difference) bool { return d.Left != "" }); i >= 0 {
		said = append(said, fmt.Sprintf("such as row %d: %s", left.Rows[i].Number, left.Rows[i].Left))
	}
	return strings.Join(said, ", ")
}
