package migrate

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"locus/migrate/cutover"
	"locus/router"
)

// Runner runs the jobs that no other process runs.
type Runner struct {
	Store Store
	Name  string // of this process
	Log   *slog.Logger
	Times Times
	// Limits bound the metrics that are watched during a rolling cut-over.
	Limits Limits
	// Stop is called at the stop points of a step, and Arrange may replace the step's effects, in tests.
	Stop    func(point string)
	Arrange func(*cutover.Effects)
	// Stepped is called after each step of a cut-over that was begun; may be nil.
	Stepped func(Stepped)
}

// Stepped is the result of a step: forward or back, taken or not.
type Stepped struct {
	Job          string
	To           router.ShardName // the new owner
	Genes        int              // number of genes that were to change hands
	Began, Ended time.Time
	Lines        []cutover.Line
	Failed       bool
}

// Held returns how long statements were paused: from the fence until the genes were handed over, or until the
// end of a failed step.
func (s Stepped) Held() time.Duration {
	for _, line := range s.Lines {
		if line.Name == cutover.BeforeFence {
			until := s.Ended
			if !s.Failed {
				until = s.Lines[len(s.Lines)-1].Ended
			}
			return until.Sub(line.Began)
		}
	}
	return 0
}

// Times are the time limits of a job. A zero field means the default, which is at the end of its comment.
type Times struct {
	Before   time.Duration // of the checks before a step; 30 s
	Within   time.Duration // from the fence to the commit of a step; 1.5 s, less than the time for which proxies pause statements
	Undo     time.Duration // for removing a fence; 10 s
	Fresh    time.Duration // how long a comparison is valid; 10 min
	Lag      time.Duration // maximum lag of the stream at the start of a step; 5 s
	Held     time.Duration // maximum pause of statements by a step; a longer one stops a rolling cut-over; 1 s
	Patience time.Duration // how long actions may fail before the job fails; 10 min
	Look     time.Duration // interval between polls for jobs; 5 s
}

func (t Times) withDefaults() Times {
	for _, d := range []struct {
		value     *time.Duration
		otherwise time.Duration
	}{
		{&t.Before, 30 * time.Second},
		{&t.Within, 1500 * time.Millisecond},
		{&t.Undo, 10 * time.Second},
		{&t.Fresh, 10 * time.Minute},
		{&t.Lag, 5 * time.Second},
		{&t.Held, time.Second},
		{&t.Patience, 10 * time.Minute},
		{&t.Look, 5 * time.Second},
	} {
		if *d.value <= 0 {
			*d.value = d.otherwise
		}
	}
	return t
}

// Run claims and runs jobs until ctx ends, and then waits for those that it runs.
func (r *Runner) Run(ctx context.Context) error {
	r.Times, r.Limits = r.Times.withDefaults(), r.Limits.withDefaults()
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	running := running{jobs: map[string]bool{}}
	defer running.wait.Wait()
	changes := r.Store.Changes(ctx)
	defer func() {
		cancel()
		for range changes { // drain the channel until the store closes it
		}
	}()
	look := time.NewTicker(r.Times.Look)
	defer look.Stop()
	for {
		r.claim(ctx, &running)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changes:
		case <-look.C:
		}
	}
}

// running lists the jobs that this process runs.
type running struct {
	mu   sync.Mutex // guards jobs
	jobs map[string]bool
	wait sync.WaitGroup
}

func (r *running) begin(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.jobs[id] {
		return false
	}
	r.jobs[id] = true
	return true
}

func (r *running) end(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.jobs, id)
}

// claim starts the jobs that no process runs.
func (r *Runner) claim(ctx context.Context, running *running) {
	jobs, err := r.Store.Jobs(ctx)
	if err != nil {
		if ctx.Err() == nil {
			r.Log.Warn("look for jobs", "error", err)
		}
		return
	}
	for _, j := range jobs {
		if j.State.Over() || !running.begin(j.ID) {
			continue
		}
		claim, err := r.Store.Claim(ctx, j.ID)
		if err != nil {
			running.end(j.ID)
			if !errors.Is(err, ErrClaimed) && ctx.Err() == nil {
				r.Log.Warn("take up a job", "job", j.ID, "error", err)
			}
			continue
		}
		running.wait.Go(func() {
			defer running.end(j.ID)
			defer claim.Release()
			r.work(ctx, claim, j.ID)
		})
	}
}

// work runs one job for as long as this process holds its claim.
func (r *Runner) work(ctx context.Context, claim Claim, id string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var lost sync.WaitGroup
	lost.Go(func() {
		defer cancel()
		select {
		case <-claim.Lost():
		case <-ctx.Done():
		}
	})
	defer lost.Wait()
	defer cancel()
	r.Log.Info("job taken up", "job", id)
	err := newWorker(r, id).run(ctx)
	switch {
	case ctx.Err() != nil:
		r.Log.Info("job left to others", "job", id)
	case err != nil:
		r.Log.Error("job", "job", id, "error", err)
	default:
		r.Log.Info("job is over", "job", id)
	}
}
