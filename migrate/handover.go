package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locus/idgen/gene"
	"locus/migrate/cutover"
	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/phase"
	"locus/router"
)

// handover is one step of a cut-over under way. Its methods are the effects whose order package cutover owns.
type handover struct {
	runner    *Runner
	shards    *shards
	streams   *streams
	verifier  *verifier
	fleet     fleet
	ownership *ownership
	report    *reporter

	read     Snapshot // as the step was begun for; replaced by what it wrote
	genes    gene.Set // that change hands
	reach    int      // how many belong to the target afterwards
	to       router.ShardName
	giver    link.Server
	receiver *stream // carries the giver's changes to the receiver

	// What takes longer to come by than it is used for is there before anything is
	// held: connections to both servers, and word of what changes in the store.
	atGiver, atReceiver *link.Conn
	changes             <-chan struct{}
	// proxies that were alive before the fence, and orphaned connections that were
	// there; see endOrphans.
	proxies map[string]int64
	orphans []uint64

	conflicts int64 // before the fence
	fenced    time.Time
	next      *router.Map // once the commit was sent
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
	changes, stop := listen(ctx, r.Store)
	defer stop()
	defer h.hangUp()
	h.changes = changes
	began := time.Now()
	err := step.Run(ctx)
	if r.Stepped != nil {
		r.Stepped(Stepped{
			Job: h.job(), To: h.to, Genes: h.genes.Len(), Began: began, Ended: time.Now(), Lines: step.Lines, Failed: err != nil,
		})
	}
	return err
}

func (h *handover) job() string { return h.read.Job.ID }

// goesBack tells whether the genes go back to the source.
func (h *handover) goesBack() bool { return h.to == h.read.Job.From }

// dial connects to both servers.
func (h *handover) dial(ctx context.Context) (err error) {
	if h.atGiver, err = link.Dial(ctx, h.giver); err != nil {
		return err
	}
	h.atReceiver, err = link.Dial(ctx, h.shards.other(h.giver))
	return err
}

func (h *handover) hangUp() {
	for _, c := range []*link.Conn{h.atGiver, h.atReceiver} {
		if c != nil {
			_ = c.Close() // nothing is under way there
		}
	}
}

// check lets a step begin only if it is likely to end in time.
func (h *handover) check(ctx context.Context) error {
	if lag, most := h.receiver.lag(time.Now()), h.runner.Times.Lag; lag > most {
		return fmt.Errorf("the stream is %v behind, more than %v", lag.Round(time.Millisecond), most)
	}
	if err := h.dial(ctx); err != nil {
		return err
	}
	if err := h.receiver.hasAllOf(ctx, h.atGiver); err != nil {
		return err
	}
	move, there := h.read.Map.MoveOf(h.job())
	if !there {
		return errors.New("the route map does not have the job")
	}
	if !move.Held.Empty() {
		return errors.New("an earlier fence is still there")
	}
	if !h.goesBack() {
		if err := h.shards.stillFit(ctx); err != nil {
			return err
		}
	}
	if err := h.recheck(ctx); err != nil {
		return err
	}
	if err := h.findOrphans(ctx); err != nil {
		return err
	}
	// The stream back is begun before the fence, since that takes as long as all that
	// is done while statements are held: until the genes are handed over, all that it
	// finds of them is the mover's own, which it drops.
	return h.streams.ensureBack(ctx)
}

// fence holds the genes, and waits until every proxy does, and until nothing that
// was prepared on them is left on the giver.
func (h *handover) fence(ctx context.Context) error {
	h.conflicts = h.receiver.Progress().Conflicts
	move := h.read.Job.Move()
	move.Held = h.genes
	next, err := h.read.Map.Step(withMove(h.read.Map, move))
	if err != nil {
		return err
	}
	h.fenced = time.Now()
	if h.read, err = h.runner.Store.Write(ctx, h.read, h.read.Job, next, fmt.Sprintf("job %s: fence", h.job())); err != nil {
		return err
	}
	proxies, err := h.fleet.acknowledged(ctx, next.Version(), h.changes)
	if err != nil {
		return err
	}
	if err := h.endOrphans(ctx, proxies); err != nil {
		return err
	}
	return awaitPrepared(ctx, h.atGiver, h.giver.Addr)
}

// position is where the giver is, now that nobody writes there: the receiver must
// have all of it, must have refused none of it, and what changed since the last
// comparison is compared again.
func (h *handover) position(ctx context.Context) error {
	if err := h.receiver.hasAllOf(ctx, h.atGiver); err != nil {
		return err
	}
	if now := h.receiver.Progress().Conflicts; now != h.conflicts {
		return fmt.Errorf("%d rows were refused at the receiver: locus jobs %s shows them", now-h.conflicts, h.job())
	}
	return h.recheck(ctx)
}

// recheck compares the rows of the step's genes that changed since they were last
// compared. Before the fence it leaves little to be compared within.
func (h *handover) recheck(ctx context.Context) error {
	h.verifier.changed.take(h.receiver)
	if h.verifier.changed.tooMany {
		if h.goesBack() { // going back must not have to wait for a comparison
			return nil
		}
		return errors.New("too many rows have changed since the last comparison, or it is not known which")
	}
	return h.verifier.recheck(ctx, h.genes, h.giver, h.atGiver, h.atReceiver, h.receiver)
}

// reverse lets nobody write to the receiver unless the stream back has a position
// before that, and reads on from there.
func (h *handover) reverse(ctx context.Context) error {
	if err := h.streams.ensureBack(ctx); err != nil {
		return err
	}
	return h.streams.back.ended()
}

// commit hands the genes over, with the record of it.
func (h *handover) commit(ctx context.Context) error {
	next, err := h.read.Map.Step(withMove(h.read.Map, h.read.Job.Move()), router.Change{Genes: h.genes, To: h.to})
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%d of %d genes at %s (%.4g %%)", h.reach, h.read.Job.State.Total, h.read.Job.To,
		100*float64(h.reach)/float64(h.read.Job.State.Total))
	j, err := h.read.Job.On(phase.Event{Kind: phase.StepTaken, Genes: h.reach}, h.runner.Name, what, time.Now())
	if err != nil {
		return err
	}
	h.ownership.handing(h.genes)
	h.next = next
	_, err = h.runner.Store.Write(ctx, h.read, j, next, fmt.Sprintf("job %s: %s", h.job(), what))
	h.report.update(func(r *job.Report) { r.LastFenceMs = time.Since(h.fenced).Milliseconds() })
	if errors.Is(err, ErrUnknown) {
		return fmt.Errorf("%w: %w", cutover.ErrUnknown, err)
	}
	return err
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
