package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"locus/migrate/checkpoint"
	"locus/migrate/checksum"
	"locus/migrate/copier"
	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/phase"
	"locus/migrate/table"
	"locus/router"
	"locus/router/gene"
)

// withMove is the map's moves with one more, or in place of the one of its job.
func withMove(m *router.Map, v router.Move) []router.Move {
	return append(withoutMove(m, v.Job), v)
}

func withoutMove(m *router.Map, id string) []router.Move {
	return slices.DeleteFunc(m.Moves(), func(v router.Move) bool { return v.Job == id })
}

// announce puts the move into the map, and waits until every proxy obeys that.
func (d *drive) announce(ctx context.Context, s Snapshot) (*phase.Event, error) {
	version := s.Map.Version()
	if _, there := s.Map.MoveOf(d.id); !there {
		if overlap := s.Map.Moving().Intersect(s.Job.Genes); !overlap.Empty() {
			return &phase.Event{
				Kind: phase.FailedWith, Why: fmt.Sprintf("another job moves genes %s", overlap),
				Remedy: "finish or abort that job, then locus resume " + d.id,
			}, nil
		}
		next, err := s.Map.Step(withMove(s.Map, s.Job.Move()))
		if err != nil {
			return &phase.Event{Kind: phase.FailedWith, Why: err.Error(), Remedy: "locus abort the job, and plan it anew"}, nil
		}
		// The record changes too, so that the action begins again with what is there.
		_, err = d.Store.Write(ctx, s, s.Job.Noted(d.Name, "announced in map version "+fmt.Sprint(next.Version()), time.Now()), next, "job "+d.id+": announced")
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, d.Times.Patience)
	defer cancel()
	changes, deaf := d.listen(waiting)
	defer deaf()
	_, err := d.obeyed(waiting, version, changes)
	if disobeys, ok := errors.AsType[*disobeysError](err); ok && ctx.Err() == nil {
		return &phase.Event{Kind: phase.FailedWith, Why: fmt.Sprintf("announce: %v, for %v", err, d.Times.Patience), Remedy: disobeys.remedy(d.id)}, nil
	}
	if err != nil {
		return nil, err
	}
	return &phase.Event{Kind: phase.Announced}, nil
}

const (
	// obeyLook is between looks at what the proxies obey, beside being told.
	obeyLook = 100 * time.Millisecond
	// obeyPatience is after how long it is told who is waited for.
	obeyPatience = 2 * time.Second
)

// obeyed waits until every living proxy obeys the version, and tells which those
// are.
func (d *drive) obeyed(ctx context.Context, version int64, changes <-chan struct{}) (map[string]int64, error) {
	look := time.NewTicker(obeyLook)
	defer look.Stop()
	began := time.Now()
	defer d.say(func(r *job.Report) { r.Trouble = "" })
	for {
		proxies, err := d.Store.Proxies(ctx)
		if err != nil {
			return nil, err
		}
		behind := ""
		for name, obeys := range proxies {
			if obeys < version {
				behind = name
			}
		}
		if behind == "" {
			return proxies, nil
		}
		if time.Since(began) > obeyPatience {
			d.say(func(r *job.Report) {
				r.Trouble = fmt.Sprintf("waiting for proxy %s to obey map version %d: a transaction that began before is still open there", behind, version)
			})
		}
		select {
		case <-ctx.Done():
			return nil, &disobeysError{behind, version, context.Cause(ctx)}
		case <-changes:
		case <-look.C:
		}
	}
}

// copy brings every row to the target while the stream is on.
func (d *drive) copy(ctx context.Context, s Snapshot) (*phase.Event, error) {
	c := copier.New(copier.Config{
		Job: d.id, Source: d.source, Target: d.target, Tables: d.tables, Parts: d.parts, Throttle: throttle(s.Job.Throttle),
	}, d.forward)
	stop := d.follow(ctx, func(r *job.Report) {
		p := c.Progress()
		r.RowsCopied, r.RowsEstimate, r.BytesCopied, r.Lanes, r.LanesDone = p.Rows, p.Estimate, p.Bytes, p.Lanes, p.LanesDone
		r.Tables = nil // a new slice: the old one may be on its way out
		for _, t := range p.Tables {
			r.Tables = append(r.Tables, job.TableCopy{Name: t.Name, RowsCopied: t.Rows, RowsEstimate: t.Estimate, Lanes: t.Lanes, LanesDone: t.LanesDone})
		}
	})
	defer stop()
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	return &phase.Event{Kind: phase.Copied}, nil
}

func (d *drive) catchUp(ctx context.Context) (*phase.Event, error) {
	if err := d.forward.caughtUp(ctx); err != nil {
		return nil, err
	}
	return &phase.Event{Kind: phase.CaughtUp}, nil
}

// throttle rests for a share of the time.
func throttle(percent int) func(context.Context) error {
	if percent <= 0 {
		return nil
	}
	last := time.Now()
	return func(ctx context.Context) error {
		worked := min(time.Since(last), 10*time.Second)
		err := pause(ctx, worked*time.Duration(percent)/time.Duration(100-percent))
		last = time.Now()
		return err
	}
}

// verify compares the two servers: the genes of the source as the source has them,
// those of the target as the target has.
func (d *drive) verify(ctx context.Context, s Snapshot) (*phase.Event, error) {
	began := time.Now()
	d.compareAnew()
	d.compared = map[string]int64{}
	cut := s.Job.AtTarget(s.Job.State.Cut)
	err := d.compare(ctx, s, s.Job.Genes.Subtract(cut), d.source, d.target, d.forward, d.id)
	if err == nil && !cut.Empty() {
		err = d.compare(ctx, s, cut, d.target, d.source, d.back, backJob(d.id))
	}
	// Told at the end and together: who reads that it passed reads all of it.
	if different, ok := errors.AsType[*differencesError](err); ok {
		d.say(func(r *job.Report) { r.Compared = d.compared })
		return d.differ(different), nil
	}
	if err != nil {
		return nil, err
	}
	d.verified = began
	d.say(func(r *job.Report) { r.Verified, r.Compared = began, d.compared })
	return &phase.Event{Kind: phase.Verified}, nil
}

// differ is what follows from servers that are not equal.
func (d *drive) differ(e *differencesError) *phase.Event {
	return &phase.Event{
		Kind: phase.FailedWith, Why: e.what,
		Remedy: fmt.Sprintf("look at the rows on both shards; then locus resume %[1]s compares again, and locus abort %[1]s gives up", d.id),
	}
}

// compareAnew forgets which rows have changed: everything is about to be compared.
func (d *drive) compareAnew() {
	for _, st := range []*stream{d.forward, d.back} {
		if st != nil {
			st.TakeTouched()
		}
	}
	d.touched = touched{}
}

// compare compares the genes of one owner.
func (d *drive) compare(ctx context.Context, s Snapshot, genes gene.Set, from, to link.Server, by *stream, name string) error {
	if genes.Empty() {
		return nil
	}
	name += "/verify"
	if err := restart(ctx, to, name); err != nil {
		return err
	}
	v := checksum.New(checksum.Config{
		Job: name, Source: from, Target: to, Tables: d.tables, Parts: table.Split(genes, min(s.Job.Parts, genes.Len())),
		Throttle: throttle(s.Job.Throttle),
	}, by)
	stop := d.follow(ctx, func(r *job.Report) { r.RowsVerified = v.Progress().Rows })
	defer stop()
	result, err := v.Run(ctx)
	d.compared = added(d.compared, v.ByTable())
	switch {
	case err != nil:
		return err
	case len(result.Differences) > 0:
		return problemText("the servers differ in %d rows or more, such as %s", len(result.Differences), result.Differences[0])
	case result.Unsettled > 0:
		return fmt.Errorf("%d rows changed too often to be compared", result.Unsettled)
	}
	return nil
}

// added is both counts together.
func added(a, b map[string]int64) map[string]int64 {
	all := maps.Clone(a)
	for name, n := range b {
		all[name] += n
	}
	return all
}

// restart forgets an earlier comparison: this one is to be of now.
func restart(ctx context.Context, at link.Server, name string) error {
	c, err := link.Dial(ctx, at)
	if err != nil {
		return err
	}
	defer c.Close()
	return checkpoint.Restart(ctx, c, name, checkpoint.Verify)
}

// keep lets the streams run, and compares again before the last comparison is too
// old to count.
func (d *drive) keep(ctx context.Context, s Snapshot) (*phase.Event, error) {
	for {
		if s.Job.State.Verified || d.verified.IsZero() { // else somebody wants to know now
			if err := pause(ctx, d.untilStale()); err != nil {
				return nil, err
			}
		}
		event, err := d.verify(ctx, s)
		if err != nil || event.Kind != phase.Verified || !s.Job.State.Verified {
			return event, err
		}
	}
}

// untilStale is when to compare again: at once if this process never did.
func (d *drive) untilStale() time.Duration {
	if d.verified.IsZero() {
		return 0
	}
	return max(0, d.Times.Fresh/2-time.Since(d.verified))
}
