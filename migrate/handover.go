package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"locus/migrate/changes"
	"locus/migrate/cutover"
	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/owned"
	"locus/migrate/phase"
	"locus/router"
)

// handover is one running step of a cut-over. Its methods are the effects; package cutover owns their order.
type handover struct {
	runner    *Runner
	move      *move
	ownership *ownership
	report    *reporter

	read    Snapshot    // the state when the step began; the commit's state afterwards
	rows    router.Part // the rows that change hands
	reach   int         // how far the job's state is after the step
	forward bool        // false: the rows go back to the source
	passes  []*pass     // one for each leg that has some of the rows

	// Connections and the acknowledgement watch are opened before the fence, because opening them takes longer
	// than using them.
	acknowledgements <-chan struct{}
	proxies          map[string]int64 // the proxies that were alive before the fence; see endOrphans

	// locked is the connection that has the tables of a source outside of the cluster locked, or nil. While it
	// is set, every query to the source uses it.
	locked *link.Conn

	passed passed      // recorded positions of the streams; nil if the record has no steps
	open   *owned.Open // the open step, once the old owner's position has been read

	fenced time.Time
	after  *job.Job    // the record, after the commit was sent
	next   *router.Map // the map, after the commit was sent
}

// pass is the part of a step in which one server hands rows to another.
type pass struct {
	leg    *leg
	rows   router.Part
	old    link.Server
	stream *stream // applies the old owner's changes at the new owner; nil for global tables, which all servers have

	atOld, atNew *link.Conn
	orphans      []uint64 // orphaned connections from before the fence; see endOrphans
	conflicts    int64    // count before the fence
}

// run executes the step in the order of package cutover.
func (h *handover) run(ctx context.Context) error {
	r := h.runner
	step := cutover.Step{
		Before: r.Times.Before, Within: r.Times.Within, Undo: r.Times.Undo, Stop: r.Stop,
		Effects: cutover.Effects{
			Check: h.check, Fence: h.fence, Position: h.position, Reverse: h.reverse,
			Commit: h.commit, Settle: h.settle, Release: h.releaseFence,
		},
	}
	if r.Arrange != nil {
		r.Arrange(&step.Effects)
	}
	acknowledgements, stop := listen(ctx, r.Store.Acknowledgements)
	defer stop()
	defer h.hangUp()
	h.acknowledgements = acknowledgements
	began := time.Now()
	err := step.Run(ctx)
	if err == nil { // at once, because the streams wait for it
		err = h.ownership.settle(h.after, h.next)
	}
	h.tell(Stepped{
		Job: h.job(), To: h.to(), Genes: h.rows.Genes.Len(), Began: began, Ended: time.Now(), Lines: step.Lines, Failed: err != nil,
	}, err)
	return err
}

// tell logs and reports a step that was begun, with the duration of each of its lines.
func (h *handover) tell(s Stepped, err error) {
	told := []any{"job", s.Job, "to", s.To, "genes", s.Genes, "held", s.Held()}
	for _, line := range s.Lines {
		told = append(told, line.Name, line.Ended.Sub(line.Began))
	}
	if err == nil {
		h.runner.Log.Info("step taken", told...)
	} else {
		h.runner.Log.Warn("step not taken", append(told, "error", err)...)
	}
	if h.runner.Stepped != nil {
		h.runner.Stepped(s)
	}
}

func (h *handover) job() string { return h.read.Job.ID }

// to returns the shard that gets the genes, or a text that stands for the shards of an import.
func (h *handover) to() router.ShardName {
	if h.forward {
		return router.ShardName(h.read.Job.Target())
	}
	return h.read.Job.From
}

// dial connects to both servers.
func (p *pass) dial(ctx context.Context) (err error) {
	if p.atOld, err = link.Dial(ctx, p.old); err != nil {
		return err
	}
	p.atNew, err = link.Dial(ctx, p.leg.shards.other(p.old))
	return err
}

// at returns the connection to a side's server.
func (p *pass) at(side owned.Side, h *handover) *link.Conn {
	if side == h.oldOwner() {
		return p.atOld
	}
	return p.atNew
}

// oldOwner returns the side that owns the rows before the step.
func (h *handover) oldOwner() owned.Side {
	if h.forward {
		return owned.Source
	}
	return owned.Target
}

func (h *handover) hangUp() {
	for _, p := range h.passes {
		hangUp(p.atOld)
		hangUp(p.atNew)
	}
}

// each calls do for all passes concurrently.
func (h *handover) each(ctx context.Context, do func(context.Context, *pass) error) error {
	if len(h.passes) == 1 || h.locked != nil { // a shared connection serves one pass at a time
		for _, p := range h.passes {
			if err := do(ctx, p); err != nil {
				return err
			}
		}
		return nil
	}
	errs := make([]error, len(h.passes))
	var doing sync.WaitGroup
	for i, p := range h.passes {
		doing.Go(func() { errs[i] = do(ctx, p) })
	}
	doing.Wait()
	return errors.Join(errs...)
}

// check lets a step begin only if it is likely to end in time.
func (h *handover) check(ctx context.Context) error {
	if !h.read.Job.Announced(h.read.Map) {
		return errors.New("the route map does not have the job")
	}
	if holds(h.read) {
		return errors.New("an earlier fence is still there")
	}
	if err := h.each(ctx, h.checkPass); err != nil {
		return err
	}
	if err := h.fill(ctx, (*filler).tidy); err != nil {
		return err
	}
	if err := h.findOrphans(ctx); err != nil {
		return err
	}
	if err := h.findPassed(ctx); err != nil {
		return err
	}
	// The reverse stream starts before the fence, because its start takes as long as everything else during the
	// fence. Until the genes are handed over, all changes that it finds on them are the mover's own, and it
	// drops them.
	return h.ensureBack(ctx)
}

func (h *handover) checkPass(ctx context.Context, p *pass) error {
	if p.stream == nil {
		return p.dial(ctx)
	}
	if lag, most := p.stream.lag(time.Now()), h.runner.Times.Lag; lag > most {
		return fmt.Errorf("the stream is %v behind, more than %v", lag.Round(time.Millisecond), most)
	}
	if err := p.dial(ctx); err != nil {
		return err
	}
	if err := p.stream.hasAllOf(ctx, p.atOld); err != nil {
		return err
	}
	if h.forward {
		if err := p.leg.shards.stillFit(ctx); err != nil {
			return err
		}
	}
	if err := h.misfits(ctx, p); err != nil {
		return err
	}
	return h.recheck(ctx, p)
}

func (h *handover) ensureBack(ctx context.Context) error {
	if h.read.Job.Import.Global() {
		return nil
	}
	for _, p := range h.passes {
		if err := p.leg.streams.ensureBack(ctx); err != nil {
			return err
		}
	}
	return nil
}

// fence pauses statements on the genes. It waits until every proxy has paused them, and until the old owner has no prepared
// transaction on these genes.
func (h *handover) fence(ctx context.Context) error {
	for _, p := range h.passes {
		if p.stream == nil {
			break
		}
		p.conflicts = p.stream.Progress().Conflicts
	}
	if h.outside() {
		return h.lock(ctx)
	}
	next, err := h.read.Map.Step(withMoves(h.read.Map, h.read.Job, h.read.Job.Held(h.rows.Genes, h.forward)))
	if err != nil {
		return err
	}
	select {
	case <-h.acknowledgements: // an acknowledgement from before the fence
	default:
	}
	h.fenced = time.Now()
	if h.read, err = h.runner.Store.Write(ctx, h.read, h.read.Job, next, fmt.Sprintf("job %s: fence", h.job())); err != nil {
		return err
	}
	proxies, err := h.obeyed(ctx, next.Version())
	if err != nil {
		return err
	}
	for _, p := range h.passes {
		if err := h.endOrphans(ctx, p, proxies); err != nil {
			return err
		}
		if err := AwaitPrepared(ctx, p.atOld, p.old.Addr); err != nil {
			return err
		}
	}
	return nil
}

// obeyed waits until every live proxy obeys a version of the map that was just written, and returns these
// proxies.
func (h *handover) obeyed(ctx context.Context, version int64) (map[string]int64, error) {
	if len(h.proxies) > 0 { // an immediate check would come too early
		select {
		case <-h.acknowledgements:
		case <-time.After(fleetLook):
		case <-ctx.Done():
		}
	}
	return h.move.fleet.acknowledged(ctx, version, h.acknowledgements)
}

// position runs after all clients have stopped writing to the old owner. The new owner must have applied all of the old
// owner's changes and refused none of them. Rows that changed since the last comparison are compared again.
func (h *handover) position(ctx context.Context) error {
	if err := h.fill(ctx, (*filler).settle); err != nil {
		return err
	}
	if err := h.number(ctx); err != nil {
		return err
	}
	if h.forward {
		if err := (views{h.runner.Store, h.read.Job}).complete(ctx); err != nil {
			return err
		}
	}
	h.open = h.ownership.ledger.Open(h.rows)
	return h.each(ctx, h.positionPass)
}

// fill sets the gene in all rows of tables that become sharded. It also runs before the fence, so that little
// is left during the fence.
func (h *handover) fill(ctx context.Context, how func(*filler, context.Context, *link.Conn) error) error {
	if !h.forward || h.move.owners == nil || h.move.owners.filler == nil {
		return nil
	}
	p := h.passes[0]
	if err := p.stream.hasAllOf(ctx, p.atOld); err != nil { // so that the filler has seen all writes
		return err
	}
	return how(h.move.owners.filler, ctx, p.atOld)
}

func (h *handover) positionPass(ctx context.Context, p *pass) error {
	if p.stream == nil { // when global tables become undeclared again, only the source keeps the rows
		return h.beginAgain(ctx, p)
	}
	if err := p.stream.hasAllOf(ctx, p.atOld); err != nil {
		return err
	}
	if now := p.stream.Progress().Conflicts; now != p.conflicts {
		return fmt.Errorf("%d rows were refused by the server that receives the genes: locus jobs %s shows them", now-p.conflicts, h.job())
	}
	if err := h.misfits(ctx, p); err != nil {
		return err
	}
	if err := h.recheck(ctx, p); err != nil {
		return err
	}
	// Every change that the old owner has written so far was judged as the owner's change, and is applied at the new owner.
	// Changes after this position wait for the outcome of the step.
	return p.stream.Bound(ctx, func(here changes.Position) error {
		at, err := here.Bound()
		if err == nil {
			h.open.Bound(p.leg.id, h.oldOwner(), at)
		}
		return err
	})
}

// beginAgain makes the stream to a shard start at the current end of the source's log. The source and the shard
// have the same rows: clients wrote them on both, and no prepared transaction is left.
func (h *handover) beginAgain(ctx context.Context, p *pass) error {
	if err := AwaitPrepared(ctx, p.atNew, p.leg.shards.source.Addr); err != nil {
		return err
	}
	return p.leg.streams.restart(ctx, p.atNew)
}

// misfits refuses to shard tables that have rows which statements would not find afterwards.
func (h *handover) misfits(ctx context.Context, p *pass) error {
	if h.move.owners == nil || !h.forward || p != h.passes[0] {
		return nil
	}
	return h.move.owners.stillWrong(ctx, p.atOld)
}

// recheck compares those of the step's rows that changed since the last comparison. It also runs before the fence, so that few
// rows remain during the fence.
func (h *handover) recheck(ctx context.Context, p *pass) error {
	changed := &p.leg.changed
	changed.take(p.stream)
	if changed.tooMany {
		if !h.forward { // a rollback must not depend on a comparison
			return nil
		}
		return errors.New("too many rows have changed since the last comparison, or it is not known which")
	}
	return p.leg.recheck(ctx, p.rows, p.old, p.atOld, p.atNew, p.stream)
}

// reverse starts the reverse stream and records its position before any client may write to the new owner.
func (h *handover) reverse(ctx context.Context) error {
	if h.read.Job.Import.Global() { // clients write these tables on every shard, so no stream may carry the changes again
		for _, p := range h.passes {
			p.leg.streams.stop()
		}
		return nil
	}
	if err := h.ensureBack(ctx); err != nil {
		return err
	}
	for _, p := range h.passes {
		if err := p.leg.streams.back.ended(); err != nil {
			return err
		}
	}
	return h.each(ctx, h.reversePass)
}

// reversePass records the new owner's position. Later writes there are the new owner's. The reverse stream
// delays the step's rows until the position and the outcome are known.
func (h *handover) reversePass(ctx context.Context, p *pass) error {
	h.open.Close(p.leg.id, h.oldOwner().Other())
	return h.bound(ctx, p, p.atNew, h.oldOwner().Other())
}

// bound sets a side's bound to the current position of its log.
func (h *handover) bound(ctx context.Context, p *pass, c *link.Conn, of owned.Side) error {
	now, err := changes.Current(ctx, c)
	if err != nil {
		return err
	}
	at, err := now.Bound()
	if err == nil {
		h.open.Bound(p.leg.id, of, at)
	}
	return err
}

// commit hands the genes over and records it, in one write.
func (h *handover) commit(ctx context.Context) error {
	what := h.told()
	j, err := h.read.Job.On(phase.Event{Kind: phase.StepTaken, Genes: h.reach}, h.runner.Name, what, time.Now())
	if err != nil {
		return err
	}
	if !j.Import.Global() { // no stream reads changes that are made after such a step
		j = j.Handing(handed(h.read.Job.State.Cut, h.reach, h.open), h.passed.passes)
	}
	next, err := h.read.Map.Step(withMoves(h.read.Map, j, j.Moves()), j.Changes(h.read.Job.State.Cut, h.reach)...)
	if err != nil {
		return err
	}
	h.after, h.next = j, next
	why := fmt.Sprintf("job %s: %s", h.job(), what)
	switch {
	case j.Import == nil:
		_, err = h.runner.Store.Write(ctx, h.read, j, next, why)
	case h.forward:
		_, err = h.runner.Store.Declare(ctx, h.read, j, next, h.move.owners.numbered(j.Import.Tables), why)
	default:
		_, err = h.runner.Store.Declare(ctx, h.read, j, next, j.Single(), why)
	}
	h.report.update(func(r *job.Report) { r.LastFenceMs = time.Since(h.fenced).Milliseconds() })
	if errors.Is(err, ErrUnknown) {
		return fmt.Errorf("%w: %w", cutover.ErrUnknown, err)
	}
	return err
}

func (h *handover) told() string {
	j := h.read.Job
	switch {
	case j.BySequence:
		return fmt.Sprintf("%s of %s at %s, by sequence", j.Reached(h.reach), j.Genes, j.To)
	case j.Import == nil:
		return fmt.Sprintf("%s at %s (%.4g %%)", j.Reached(h.reach), j.To, 100*float64(h.reach)/float64(j.State.Total))
	case h.forward && j.Import.Global():
		return strings.Join(j.Import.Names(), ", ") + " global"
	case h.forward:
		return strings.Join(j.Import.Names(), ", ") + " sharded"
	}
	return strings.Join(j.Import.Names(), ", ") + " on " + string(j.From) + " alone again"
}

// settle finds out whether a commit with an unknown outcome happened.
func (h *handover) settle(ctx context.Context) (bool, error) {
	for {
		s, err := h.runner.Store.Read(ctx, h.job())
		if err == nil {
			return s.Job.State.Cut == h.reach, nil
		}
		if ctx.Err() != nil {
			return false, err
		}
		if err := pause(ctx, fleetLook); err != nil {
			return false, err
		}
	}
}

// releaseFence removes the fence, even if another process has changed the record meanwhile.
func (h *handover) releaseFence(ctx context.Context) error {
	hangUp(h.locked)
	for {
		s, err := h.runner.Store.Read(ctx, h.job())
		if err == nil {
			err = release(ctx, h.runner.Store, s, h.runner.Name)
		}
		if err == nil {
			return nil
		}
		if pause(ctx, fleetLook) != nil {
			return err
		}
	}
}
