package ops

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"locus/migrate"
	"locus/migrate/job"
	"locus/migrate/phase"
)

// Command is a request to a job that exists: [Pause], [Resume], [CutOver], [NextStep], [RollBack], [Finish], [Abort], [Verify],
// [Repair], [Throttle] or [Mirror]. The process that runs the job carries it out.
type Command interface {
	job() string
	// order returns the change of the job's record. The error is an *Invalid, or the reason why the job refuses the command.
	order(ctx context.Context, o *Ops, by string) (job.Order, error)
}

// OfJob names the job that a command is for.
type OfJob struct {
	Job string `json:"job"`
}

func (r OfJob) job() string { return r.Job }

// Pause requests that a job only keeps both shards equal.
type Pause struct{ OfJob }

// Resume requests that a paused or failed job continues.
type Resume struct{ OfJob }

// Finish requests that a job whose genes are all at the target deletes the source's rows.
type Finish struct{ OfJob }

// Abort requests that a job returns everything to the source, and deletes the target's rows.
type Abort struct{ OfJob }

// Verify requests that a job compares its shards again.
type Verify struct{ OfJob }

// CutOver requests that a job hands genes over to the target, in steps.
type CutOver struct {
	OfJob
	// Percent is the share of the genes that the target has after the step, from 0 to 100. It must be given.
	Percent *float64 `json:"percent"`
	// StepPercent is the share that a step hands over; nil: 5 with pauses between the steps, else 100.
	StepPercent *float64 `json:"step_percent,omitempty"`
	// EverySeconds is the time between two steps, up to a week; 0: one step follows the other.
	EverySeconds float64 `json:"every_seconds,omitempty"`
	// OnBreach is the reaction if errors or latency rise; empty: job.PauseThen.
	OnBreach job.Breach `json:"on_breach,omitempty"`
}

// NextStep requests that a job hands over more genes at once, and stays there.
type NextStep struct {
	OfJob
	// Percent is the share of the genes in addition to those at the target, from 0 to 100. It must be given.
	Percent *float64 `json:"percent"`
}

// RollBack requests that a job hands genes back to the source.
type RollBack struct {
	OfJob
	// Percent is the share of the genes that stays at the target, from 0 to 100; nil: 0.
	Percent *float64 `json:"percent,omitempty"`
	// StepPercent is the share that a step hands back; nil: 100.
	StepPercent *float64 `json:"step_percent,omitempty"`
}

// Throttle requests that copying, comparing and deleting of a job pause for a part of the time.
type Throttle struct {
	OfJob
	// Percent is the part of the time, from 0 to 95. It must be given.
	Percent *float64 `json:"percent"`
}

// Mirror requests that proxies send copies of some reads of the moving genes to the target.
type Mirror struct {
	OfJob
	// Percent is the share of the reads, a whole number from 0 to 100; 0 ends it. It must be given.
	Percent *float64 `json:"percent"`
}

// Agree is called with the record of a job, and the name of the command, before each attempt to write it. An error ends the request,
// and nothing is written.
type Agree func(j *job.Job, command string) error

// PlanCommand returns the record of the job as the command would change it. Nothing is written.
func (o *Ops) PlanCommand(ctx context.Context, c Command, by string) (*job.Job, error) {
	order, err := o.orderOf(ctx, c, by)
	if err != nil {
		return nil, err
	}
	snap, err := o.jobs.Read(ctx, c.job())
	if err != nil {
		return nil, err
	}
	return snap.Job.Told(order, by, o.now())
}

// Send writes a command into the record of its job, and returns the record. Agree may be nil. If the error wraps migrate.ErrUnknown,
// the command may have been written; with any other error it was not.
func (o *Ops) Send(ctx context.Context, c Command, by string, agree Agree) (*job.Job, error) {
	order, err := o.orderOf(ctx, c, by)
	if err != nil {
		return nil, err
	}
	j, err := o.jobs.Tell(ctx, c.job(), order, by, o.now(), func(j *job.Job) error {
		if agree == nil {
			return nil
		}
		return agree(j, order.Name)
	})
	if errors.Is(err, migrate.ErrUnknown) {
		return nil, fmt.Errorf("%w; locus jobs %s shows whether the command is in the journal", err, c.job())
	}
	return j, err
}

func (o *Ops) orderOf(ctx context.Context, c Command, by string) (job.Order, error) {
	if c.job() == "" {
		return job.Order{}, invalid("no job is named; locus jobs lists the jobs")
	}
	return c.order(ctx, o, by)
}

func (Pause) order(context.Context, *Ops, string) (job.Order, error) {
	return job.Just("pause", phase.Pause), nil
}

func (Resume) order(context.Context, *Ops, string) (job.Order, error) {
	return job.Just("resume", phase.Resume), nil
}

func (Finish) order(context.Context, *Ops, string) (job.Order, error) {
	return job.Just("finish", phase.Finish), nil
}

func (Abort) order(context.Context, *Ops, string) (job.Order, error) {
	return job.Just("abort", phase.Abort), nil
}

func (Verify) order(context.Context, *Ops, string) (job.Order, error) {
	order := job.Just("verify", phase.Differs)
	order.Refuse = func(j *job.Job) error {
		if _, err := j.State.On(phase.Event{Kind: phase.Differs}); err != nil {
			return fmt.Errorf("job %s is %s; it can be compared once its rows are copied, until it is finished", j.ID, j.State.Shown())
		}
		return nil
	}
	return order, nil
}

// longestPause is the longest time between two steps.
const longestPause = 7 * 24 * time.Hour

func (r CutOver) order(context.Context, *Ops, string) (job.Order, error) {
	if !(r.EverySeconds >= 0 && r.EverySeconds <= longestPause.Seconds()) {
		return job.Order{}, invalid("%v seconds between two steps are not possible; use 0 to %v seconds", r.EverySeconds, longestPause.Seconds())
	}
	usual := 100.0 // at once
	if r.EverySeconds > 0 {
		usual = 5
	}
	to, err := given(r.Percent)
	if err != nil {
		return job.Order{}, err
	}
	step, err := percent(r.StepPercent, usual)
	if err != nil {
		return job.Order{}, err
	}
	onBreach := r.OnBreach
	switch onBreach {
	case "":
		onBreach = job.PauseThen
	case job.PauseThen, job.StepBack, job.BackToNil:
	default:
		return job.Order{}, invalid("the reaction %q to a breach is unknown; use %s, %s or %s", onBreach, job.PauseThen, job.StepBack, job.BackToNil)
	}
	return job.CutOver(to, step, time.Duration(r.EverySeconds*float64(time.Second)), onBreach), nil
}

func (r NextStep) order(context.Context, *Ops, string) (job.Order, error) {
	by, err := given(r.Percent)
	return job.NextStep(by), err
}

func (r RollBack) order(context.Context, *Ops, string) (job.Order, error) {
	to, err := percent(r.Percent, 0)
	if err != nil {
		return job.Order{}, err
	}
	step, err := percent(r.StepPercent, 100)
	return job.Back(to, step), err
}

func (r Throttle) order(context.Context, *Ops, string) (job.Order, error) {
	rest, err := given(r.Percent)
	if err == nil && rest > job.MostRest {
		err = invalidRest(rest)
	}
	return job.Throttle(int(rest)), err
}

func (r Mirror) order(context.Context, *Ops, string) (job.Order, error) {
	share, err := given(r.Percent)
	if err == nil && share != math.Trunc(share) { // a part of a percent would be no sample
		err = invalid("%v %% of the reads can't be mirrored; use a whole number from 0 to 100", share)
	}
	return job.Mirror(int(share)), err
}

// given returns a percentage that a request must contain.
func given(p *float64) (float64, error) {
	if p == nil {
		return 0, invalid("no percentage is given; give one from 0 to 100")
	}
	return percent(p, 0)
}

// percent returns a percentage, or the usual one if the request leaves it out.
func percent(p *float64, usual float64) (float64, error) {
	if p == nil {
		return usual, nil
	}
	if !(*p >= 0 && *p <= 100) { // also refuses NaN
		return 0, invalid("%v is no percentage; use a number from 0 to 100", *p)
	}
	return *p, nil
}

func invalidRest(percent float64) error {
	return invalid("a job can't rest for %v %% of the time; use 0 to %d %%", percent, job.MostRest)
}

// Repair requests that rows become equal which a comparison has found to differ.
type Repair struct {
	OfJob
	// Take names whose row is taken: source, target or newer.
	Take job.Take `json:"take"`
	// Rows selects rows by their numbers, like 3,7-9; empty: all that are listed.
	Rows string `json:"rows,omitempty"`
}

// Differing returns the rows that a repair would concern, and about how many more differ. The error is an *Invalid, or the reason why
// no rows of the job can be repaired.
func (o *Ops) Differing(ctx context.Context, r Repair) (rows []job.Difference, beyond int64, err error) {
	if r.Take != "" && !r.Take.Valid() {
		return nil, 0, invalid("the row of the %q can't be taken; take source, target or newer", string(r.Take))
	}
	snap, err := o.jobs.Read(ctx, r.Job)
	if err != nil {
		return nil, 0, err
	}
	if snap.Job.State.Differing == 0 {
		return nil, 0, fmt.Errorf("job %s is %s, and no rows are listed; rows are repaired of a job that has failed because they differ; locus verify %s compares the shards", r.Job, snap.Job.State.Shown(), r.Job)
	}
	list, err := o.jobs.Differences(ctx, r.Job)
	if err != nil {
		return nil, 0, err
	}
	if rows, err = list.Chosen(r.Rows); err != nil {
		return nil, 0, invalid("%v", err)
	}
	return rows, list.Beyond, nil
}

func (r Repair) order(ctx context.Context, o *Ops, by string) (job.Order, error) {
	if r.Take = job.Take(strings.ToLower(string(r.Take))); r.Take == "" {
		return job.Order{}, invalid("no row is taken; take source, target or newer")
	}
	rows, _, err := o.Differing(ctx, r)
	if err != nil {
		return job.Order{}, err
	}
	order, err := job.MakeEqual(r.Take, rows, by)
	if err != nil {
		return order, fmt.Errorf("job %s: %w", r.Job, err)
	}
	return order, nil
}
