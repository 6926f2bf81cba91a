package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locus/migrate/cutover"
	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/phase"
	"locus/migrate/preflight"
	"locus/router"
	"locus/router/gene"
)

// handover is one step of the cut-over, forward or back.
type handover struct {
	*drive
	read     Snapshot // as the step was begun for; replaced by what it wrote
	genes    gene.Set // that change hands
	reach    int      // how many belong to the target afterwards
	to       router.ShardName
	giver    link.Server
	receiver *stream // carries the giver's changes to the receiver
	version  int64   // of the fence
	fenced   time.Time
	refused  int64 // conflicts before the fence
	// proxies that were alive before the fence, and strangers that were there; see
	// evict.
	proxies   map[string]int64
	strangers []uint64
	next      *router.Map // once the commit was sent
	// What takes longer to come by than it is used for is there before anything is
	// held: connections to both servers, and word of what changes in the store.
	atGiver, atReceiver *link.Conn
	changes             <-chan struct{}
}

// step hands the next genes over, once it is time.
func (d *drive) step(ctx context.Context, s Snapshot, action phase.Action, reach int) (*phase.Event, error) {
	if event, err := d.untilStep(ctx, s, action); event != nil || err != nil {
		return event, err
	}
	if action == phase.Advance && s.Job.Every > 0 {
		d.noteUsual(ctx)
	}
	h := &handover{drive: d, read: s, reach: reach, to: s.Job.To, giver: d.source, receiver: d.forward}
	h.genes = s.Job.AtTarget(reach).Subtract(s.Job.AtTarget(s.Job.State.Cut))
	if action == phase.Retreat {
		h.genes = s.Job.AtTarget(s.Job.State.Cut).Subtract(s.Job.AtTarget(reach))
		h.to, h.giver, h.receiver = s.Job.From, d.target, d.back
	}
	if action == phase.Advance && (d.verified.IsZero() || time.Since(d.verified) > d.Times.Fresh) {
		return &phase.Event{Kind: phase.Differs, Why: "the last comparison is too old"}, nil
	}
	err := h.run(ctx)
	if err == nil {
		d.owned.set(s.Job, h.next)
	}
	d.owned.handing(gene.Set{})
	if different, ok := errors.AsType[*differencesError](err); ok {
		return d.differ(different), nil
	}
	if err != nil && d.touched.tooMany && action == phase.Advance {
		return &phase.Event{Kind: phase.Differs, Why: err.Error()}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("step to %d of %d genes: %w", reach, s.Job.State.Total, err)
	}
	d.stepped = time.Now()
	if s.Job.Every > 0 {
		d.noteFigures(ctx)
	}
	return &phase.Event{Kind: phase.StepTaken, Genes: reach}, nil
}

// run goes through the order.
func (h *handover) run(ctx context.Context) error {
	step := cutover.Step{
		Before: h.Times.Before, Within: h.Times.Within, Undo: h.Times.Undo, Stop: h.Stop,
		Effects: cutover.Effects{
			Check: h.check, Fence: h.fence, Position: h.position, Reverse: h.reverse,
			Commit: h.commit, Settle: h.settle, Release: h.releaseFence,
		},
	}
	if h.Arrange != nil {
		h.Arrange(&step.Effects)
	}
	changes, deaf := h.listen(ctx)
	defer deaf()
	defer h.hangUp()
	h.changes = changes
	began := time.Now()
	err := step.Run(ctx)
	if h.Stepped != nil {
		h.Stepped(Stepped{
			Job: h.id, To: h.to, Genes: h.genes.Len(), Began: began, Ended: time.Now(), Lines: step.Lines, Failed: err != nil,
		})
	}
	return err
}

// untilStep waits between the steps of a cut-over that rolls, keeps the comparison
// fresh meanwhile, and gives what follows if a figure gets worse than it may.
func (d *drive) untilStep(ctx context.Context, s Snapshot, action phase.Action) (*phase.Event, error) {
	if action == phase.Retreat || s.Job.Every <= 0 || d.stepped.IsZero() {
		return nil, nil
	}
	next := d.stepped.Add(s.Job.Every)
	d.say(func(r *job.Report) { r.NextStep = next })
	defer d.say(func(r *job.Report) { r.NextStep = time.Time{} })
	return d.watchUntil(ctx, s, next)
}

// watchUntil looks at the figures until then, and keeps the comparison fresh.
func (d *drive) watchUntil(ctx context.Context, s Snapshot, next time.Time) (*phase.Event, error) {
	for {
		if event := d.breached(ctx, s); event != nil {
			return event, nil
		}
		wait := time.Until(next)
		if wait <= 0 {
			return nil, nil
		}
		if err := pause(ctx, min(wait, time.Second)); err != nil {
			return nil, err
		}
		if d.untilStale() == 0 && time.Until(next) > 0 {
			if event, err := d.verify(ctx, s); err != nil || event.Kind != phase.Verified {
				return nil, errors.Join(errMoved, err)
			}
		}
	}
}

// dial connects to both servers.
func (h *handover) dial(ctx context.Context) (err error) {
	if h.atGiver, err = link.Dial(ctx, h.giver); err != nil {
		return err
	}
	h.atReceiver, err = link.Dial(ctx, h.receiverAt())
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
	if lag := h.receiver.lag(time.Now()); lag > h.Times.Lag {
		return fmt.Errorf("the stream is %v behind, more than %v", lag.Round(time.Millisecond), h.Times.Lag)
	}
	if err := h.dial(ctx); err != nil {
		return err
	}
	if err := h.receiver.hasAllOf(ctx, h.atGiver); err != nil {
		return err
	}
	move, there := h.read.Map.MoveOf(h.id)
	if !there {
		return fmt.Errorf("the route map does not have the job")
	}
	if !move.Held.Empty() {
		return fmt.Errorf("an earlier fence is still there")
	}
	if err := h.stillFits(ctx); err != nil {
		return err
	}
	if err := h.recheck(ctx); err != nil {
		return err
	}
	if err := h.lookForStrangers(ctx); err != nil {
		return err
	}
	return h.openBack(ctx)
}

// stillFits refuses to go on to a target whose tables somebody has changed: the
// stream back could not read what is written there. Going back is not refused.
func (h *handover) stillFits(ctx context.Context) error {
	if h.to == h.read.Job.From {
		return nil
	}
	report, err := preflight.LookAtSchema(ctx, h.looked)
	if err == nil && len(report.Problems) > 0 {
		err = &refusedError{report.Problems}
	}
	return err
}

func (h *handover) lookForStrangers(ctx context.Context) error {
	var err error
	if h.proxies, err = h.Store.Proxies(ctx); err != nil {
		return err
	}
	h.strangers, err = strangers(ctx, h.atGiver, h.proxies)
	return err
}

// fence holds the genes, and waits until every proxy does, and until nothing that
// was prepared on them is left on the giver.
func (h *handover) fence(ctx context.Context) error {
	h.refused = h.receiver.Progress().Conflicts
	move := h.read.Job.Move()
	move.Held = h.genes
	next, err := h.read.Map.Step(withMove(h.read.Map, move))
	if err != nil {
		return err
	}
	h.fenced = time.Now()
	if h.read, err = h.Store.Write(ctx, h.read, h.read.Job, next, fmt.Sprintf("job %s: fence", h.id)); err != nil {
		return err
	}
	h.version = next.Version()
	proxies, err := h.obeyed(ctx, h.version, h.changes)
	if err != nil {
		return err
	}
	if err := h.evict(ctx, proxies); err != nil {
		return err
	}
	return h.alone(ctx)
}

// position is where the giver is, now that nobody writes there: the receiver must
// have all of it, must have refused none of it, and what changed since the last
// comparison is compared again.
func (h *handover) position(ctx context.Context) error {
	if err := h.receiver.hasAllOf(ctx, h.atGiver); err != nil {
		return err
	}
	if now := h.receiver.Progress().Conflicts; now != h.refused {
		return fmt.Errorf("%d rows were refused at the receiver: locus jobs %s shows them", now-h.refused, h.id)
	}
	return h.recheck(ctx)
}

// reverse lets nobody write to the receiver unless the stream back has a position
// before that, and reads on from there.
func (h *handover) reverse(ctx context.Context) error {
	if err := h.openBack(ctx); err != nil {
		return err
	}
	select {
	case <-h.back.failed:
		return h.back.err
	default:
		return nil
	}
}

// openBack begins the stream back, once. It is done before the fence, since it
// takes as long as all that is done while statements are held: until the genes are
// handed over, all that the stream finds of them is the mover's own, which it drops.
func (h *handover) openBack(ctx context.Context) (err error) {
	if h.back == nil {
		h.back, err = h.open(ctx, h.target, h.source, backJob(h.id), true)
	}
	return err
}

// commit hands the genes over, with the record of it.
func (h *handover) commit(ctx context.Context) error {
	move := h.read.Job.Move()
	next, err := h.read.Map.Step(withMove(h.read.Map, move), router.Change{Genes: h.genes, To: h.to})
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%d of %d genes at %s (%.4g %%)", h.reach, h.read.Job.State.Total, h.read.Job.To,
		100*float64(h.reach)/float64(h.read.Job.State.Total))
	j, err := h.read.Job.On(phase.Event{Kind: phase.StepTaken, Genes: h.reach}, h.Name, what, time.Now())
	if err != nil {
		return err
	}
	h.owned.handing(h.genes)
	h.next = next
	_, err = h.Store.Write(ctx, h.read, j, next, fmt.Sprintf("job %s: %s", h.id, what))
	h.say(func(r *job.Report) { r.LastFenceMs = time.Since(h.fenced).Milliseconds() })
	if errors.Is(err, ErrUnknown) {
		return fmt.Errorf("%w: %w", cutover.ErrUnknown, err)
	}
	return err
}

func (h *handover) settle(ctx context.Context) (bool, error) {
	for {
		s, err := h.Store.Read(ctx, h.id)
		if err == nil {
			return s.Job.State.Cut == h.reach, nil
		}
		if ctx.Err() != nil {
			return false, err
		}
		if err := pause(ctx, obeyLook); err != nil {
			return false, err
		}
	}
}

// releaseFence takes the fence away, whoever changed the record meanwhile.
func (h *handover) releaseFence(ctx context.Context) error {
	for {
		s, err := h.Store.Read(ctx, h.id)
		if err == nil {
			err = h.release(ctx, s)
		}
		if err == nil {
			return nil
		}
		if pause(ctx, obeyLook) != nil {
			return err
		}
	}
}
