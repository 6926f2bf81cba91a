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

// handover is one step of a cut-over under way. Its methods are the effects whose order package cutover owns.
type handover struct {
	runner    *Runner
	move      *move
	ownership *ownership
	report    *reporter

	read    Snapshot    // as the step was begun for; replaced by what it wrote
	rows    router.Part // that change hands
	reach   int         // how far the job's state is afterwards
	forward bool        // else they go back to the source
	passes  []*pass     // one for each leg that has some of the rows

	// What takes longer to come by than it is used for is there before anything is
	// held: connections, and word of what the proxies obey.
	acknowledgements <-chan struct{}
	proxies          map[string]int64 // that were alive before the fence; see endOrphans

	// locked is the connection that holds the tables of a source outside of the cluster; nil: none does. Every
	// question to the source goes over it then.
	locked *link.Conn

	passed passed      // where the streams are recorded to be; nil if the record has no steps
	open   *owned.Open // the step, once the giver's position is being looked for

	fenced time.Time
	after  *job.Job    // once the commit was sent, the record
	next   *router.Map // and the map
}

// pass is what one server gives to another in a step.
type pass struct {
	leg      *leg
	rows     router.Part
	giver    link.Server
	receiver *stream // carries the giver's changes to the receiver; nil: all servers have them, as of global tables

	atGiver, atReceiver *link.Conn
	orphans             []uint64 // connections that were there before the fence; see endOrphans
	conflicts           int64    // before the fence
}

// run goes through the order.
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
	if err == nil { // at once: the streams wait for it
		err = h.ownership.settle(h.after, h.next)
	}
	h.tell(Stepped{
		Job: h.job(), To: h.to(), Genes: h.rows.Genes.Len(), Began: began, Ended: time.Now(), Lines: step.Lines, Failed: err != nil,
	}, err)
	return err
}

// tell tells of a step that was begun, and what of it took how long.
func (h *handover) tell(s Stepped, err error) {
	told := []any{"job", s.Job, "receiver", s.To, "genes", s.Genes, "held", s.Held()}
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

// to is who gets the genes; several shards of an import, in a word.
func (h *handover) to() router.ShardName {
	if h.forward {
		return router.ShardName(h.read.Job.Target())
	}
	return h.read.Job.From
}

// dial connects to both servers.
func (p *pass) dial(ctx context.Context) (err error) {
	if p.atGiver, err = link.Dial(ctx, p.giver); err != nil {
		return err
	}
	p.atReceiver, err = link.Dial(ctx, p.leg.shards.other(p.giver))
	return err
}

// at returns the connection to a side's server.
func (p *pass) at(side owned.Side, h *handover) *link.Conn {
	if side == h.giver() {
		return p.atGiver
	}
	return p.atReceiver
}

// giver is the side that owns the rows before the step.
func (h *handover) giver() owned.Side {
	if h.forward {
		return owned.Source
	}
	return owned.Target
}

func (h *handover) hangUp() {
	for _, p := range h.passes {
		hangUp(p.atGiver)
		hangUp(p.atReceiver)
	}
}

// each does something of a step for all passes side by side.
func (h *handover) each(ctx context.Context, do func(context.Context, *pass) error) error {
	if len(h.passes) == 1 || h.locked != nil { // one connection is asked by one at a time
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
	// The stream back is begun before the fence, since that takes as long as all that
	// is done while statements are held: until the genes are handed over, all that it
	// finds of them is the mover's own, which it drops.
	return h.ensureBack(ctx)
}

func (h *handover) checkPass(ctx context.Context, p *pass) error {
	if p.receiver == nil {
		return p.dial(ctx)
	}
	if lag, most := p.receiver.lag(time.Now()), h.runner.Times.Lag; lag > most {
		return fmt.Errorf("the stream is %v behind, more than %v", lag.Round(time.Millisecond), most)
	}
	if err := p.dial(ctx); err != nil {
		return err
	}
	if err := p.receiver.hasAllOf(ctx, p.atGiver); err != nil {
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

// fence holds the genes, and waits until every proxy does, and until nothing that
// was prepared on them is left on the giver.
func (h *handover) fence(ctx context.Context) error {
	for _, p := range h.passes {
		if p.receiver == nil {
			break
		}
		p.conflicts = p.receiver.Progress().Conflicts
	}
	if h.outside() {
		return h.lock(ctx)
	}
	next, err := h.read.Map.Step(withMoves(h.read.Map, h.read.Job, h.read.Job.Held(h.rows.Genes, h.forward)))
	if err != nil {
		return err
	}
	select {
	case <-h.acknowledgements: // of what was before
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
		if err := AwaitPrepared(ctx, p.atGiver, p.giver.Addr); err != nil {
			return err
		}
	}
	return nil
}

// obeyed waits until every living proxy obeys a version of the map that was just written, and returns which those are.
func (h *handover) obeyed(ctx context.Context, version int64) (map[string]int64, error) {
	if len(h.proxies) > 0 { // to look at once would only tell that they don't yet
		select {
		case <-h.acknowledgements:
		case <-time.After(fleetLook):
		case <-ctx.Done():
		}
	}
	return h.move.fleet.acknowledged(ctx, version, h.acknowledgements)
}

// position is where the giver is, now that nobody writes there: the receiver must
// have all of it, must have refused none of it, and what changed since the last
// comparison is compared again.
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

// fill has all rows of tables that become sharded have their genes, where clients don't write them: before the fence it leaves
// little to be filled within.
func (h *handover) fill(ctx context.Context, how func(*filler, context.Context, *link.Conn) error) error {
	if !h.forward || h.move.owners == nil || h.move.owners.filler == nil {
		return nil
	}
	p := h.passes[0]
	if err := p.receiver.hasAllOf(ctx, p.atGiver); err != nil { // so that all writes were seen
		return err
	}
	return how(h.move.owners.filler, ctx, p.atGiver)
}

func (h *handover) positionPass(ctx context.Context, p *pass) error {
	if p.receiver == nil { // from global to the source alone
		return h.beginAgain(ctx, p)
	}
	if err := p.receiver.hasAllOf(ctx, p.atGiver); err != nil {
		return err
	}
	if now := p.receiver.Progress().Conflicts; now != p.conflicts {
		return fmt.Errorf("%d rows were refused at the receiver: locus jobs %s shows them", now-p.conflicts, h.job())
	}
	if err := h.misfits(ctx, p); err != nil {
		return err
	}
	if err := h.recheck(ctx, p); err != nil {
		return err
	}
	// What the giver has written until here was judged as the owner's, and is at the receiver. What follows waits for the
	// outcome of the step.
	return p.receiver.Bound(ctx, func(here changes.Position) error {
		at, err := here.Bound()
		if err == nil {
			h.open.Bound(p.leg.id, h.giver(), at)
		}
		return err
	})
}

// beginAgain makes the stream to a shard begin where the source's log is now. The source and the shard have the same rows: clients wrote
// them on both, and nothing that was prepared is left.
func (h *handover) beginAgain(ctx context.Context, p *pass) error {
	if err := AwaitPrepared(ctx, p.atReceiver, p.leg.shards.source.Addr); err != nil {
		return err
	}
	return p.leg.streams.restart(ctx, p.atReceiver)
}

// misfits refuses to shard tables that have rows which nobody would find then.
func (h *handover) misfits(ctx context.Context, p *pass) error {
	if h.move.owners == nil || !h.forward || p != h.passes[0] {
		return nil
	}
	return h.move.owners.stillWrong(ctx, p.atGiver)
}

// recheck compares those of the step's rows that changed since they were last
// compared. Before the fence it leaves little to be compared within.
func (h *handover) recheck(ctx context.Context, p *pass) error {
	changed := &p.leg.changed
	changed.take(p.receiver)
	if changed.tooMany {
		if !h.forward { // going back must not have to wait for a comparison
			return nil
		}
		return errors.New("too many rows have changed since the last comparison, or it is not known which")
	}
	return p.leg.recheck(ctx, p.rows, p.giver, p.atGiver, p.atReceiver, p.receiver)
}

// reverse lets nobody write to the receiver unless the stream back has a position
// before that, and reads on from there.
func (h *handover) reverse(ctx context.Context) error {
	if h.read.Job.Import.Global() { // what clients write everywhere must not come to a shard once more
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

// reversePass notes the receiver's position, after which everything that is written there is the new owner's. The stream
// that reads it waits with the step's rows until the position and the outcome are known.
func (h *handover) reversePass(ctx context.Context, p *pass) error {
	h.open.Close(p.leg.id, h.giver().Other())
	return h.bound(ctx, p, p.atReceiver, h.giver().Other())
}

// bound makes the position of a side's log of now its bound.
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

// commit hands the genes over, with the record of it.
func (h *handover) commit(ctx context.Context) error {
	what := h.told()
	j, err := h.read.Job.On(phase.Event{Kind: phase.StepTaken, Genes: h.reach}, h.runner.Name, what, time.Now())
	if err != nil {
		return err
	}
	if !j.Import.Global() { // no stream reads what is written after such a step
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

// settle finds out whether a commit happened whose outcome is unknown.
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

// releaseFence takes the fence away, whoever changed the record meanwhile.
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
