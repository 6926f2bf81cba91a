package console

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"locus/config/etcd"
)

// Intervals at which etcd's members and the slow checks of doctor are run: while a page is open, and otherwise. The checks query every shard
// and take seconds. Their report is kept in etcd, so that all processes show the same and one of them runs the checks.
const (
	membersEvery    = 10 * time.Second
	membersUnasked  = time.Minute
	membersPatience = 5 * time.Second
	doctorEvery     = time.Minute
	doctorUnasked   = 10 * time.Minute
	doctorPatience  = 30 * time.Second
	outdatedAfter   = 15 * time.Second // without an open page: the time after a change of the servers' states
	spread          = time.Minute      // without an open page: processes run the checks at different times within this interval
	stillLooks      = 15 * time.Second // time after the last request of the page
	tooOld          = 3 * time.Minute  // age at which an answer of etcd's members is discarded
	examineTick     = time.Second
)

// examiner queries etcd's members, and runs the checks of doctor when no other process has done so lately.
type examiner struct {
	ground Ground
	later  time.Duration // this process's place within spread

	mu       sync.Mutex // guards the fields below
	began    time.Time  // start of run
	visited  time.Time
	members  []etcd.Health
	asked    time.Time // time of the last query of the members
	err      error     // why the last run of doctor here has failed
	tried    time.Time // time of that run
	reported time.Time // time of the report that all processes show
	outdated time.Time // reports from before it are out of date
	again    bool      // a person wants another report at once
}

func newExaminer(ground Ground) *examiner {
	return &examiner{ground: ground, later: rand.N(spread)}
}

// known returns the recent answers of etcd's members.
func (e *examiner) known() (members []etcd.Health) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if time.Since(e.asked) < tooOld {
		members = e.members
	}
	return members
}

// problem returns why doctor could not run, or "".
func (e *examiner) problem() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil || e.reported.After(e.tried) {
		return ""
	}
	return e.err.Error()
}

// kept records the time of the report that all processes show.
func (e *examiner) kept(at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reported = at
}

func (e *examiner) begin(now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.began = now
}

// visit records that a person views the page.
func (e *examiner) visit(now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.visited = now
}

// hurry makes doctor run again at once.
func (e *examiner) hurry() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.again = true
}

// outdate records that reports from before now are out of date.
func (e *examiner) outdate(now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.outdated = now
}

// due returns which queries are due now.
func (e *examiner) due(now time.Time) (members, all bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	last := e.reported
	if e.tried.After(last) {
		last = e.tried
	}
	if now.Sub(e.visited) <= stillLooks {
		return now.Sub(e.asked) >= membersEvery, e.again || last.Before(e.outdated) || now.Sub(last) >= doctorEvery
	}
	if last.IsZero() {
		return now.Sub(e.asked) >= membersUnasked, now.Sub(e.began) >= e.later
	}
	return now.Sub(e.asked) >= membersUnasked,
		now.Sub(last) >= doctorUnasked+e.later || last.Before(e.outdated) && now.Sub(e.outdated) >= outdatedAfter+e.later/2
}

// run makes due queries until ctx ends.
func (e *examiner) run(ctx context.Context) {
	e.begin(time.Now())
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { e.each(ctx, func(members, _ bool) bool { return members }, e.askMembers) })
	e.each(ctx, func(_, all bool) bool { return all }, e.examine)
}

func (e *examiner) each(ctx context.Context, isDue func(members, all bool) bool, look func(context.Context)) {
	tick := time.NewTicker(examineTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if isDue(e.due(time.Now())) {
			look(ctx)
		}
	}
}

func (e *examiner) askMembers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, membersPatience)
	defer cancel()
	members := e.ground.Members(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.members, e.asked = members, time.Now()
}

func (e *examiner) examine(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	e.mu.Lock()
	e.again, e.tried = false, time.Now()
	e.mu.Unlock()
	err := e.ground.Examine(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err, e.tried = err, time.Now()
}
