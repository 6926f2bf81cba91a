package console

import (
	"context"
	"sync"
	"time"

	"locus/config/etcd"
	"locus/control/doctor"
)

// Intervals at which etcd's members and doctor are queried while somebody views the page. doctor queries every shard
// and takes seconds.
const (
	membersEvery    = 10 * time.Second
	membersPatience = 5 * time.Second
	doctorEvery     = time.Minute
	doctorPatience  = 30 * time.Second
	stillLooks      = 15 * time.Second // time after the last request of the page
	tooOld          = 3 * time.Minute  // age of findings from the last viewing
	examineTick     = time.Second
)

// examiner queries etcd and doctor while somebody views the page.
type examiner struct {
	ground Ground

	mu       sync.Mutex // guards the fields below
	visited  time.Time
	members  []etcd.Health
	asked    time.Time // time of the last query of the members
	report   doctor.Report
	err      error // why there is no report
	examined time.Time
	again    bool // run before it is due
}

// findings is doctor's result and its time, which is zero before the first run.
type findings struct {
	At       time.Time        `json:"at,omitzero"`
	Findings []doctor.Finding `json:"findings"`
	Problem  string           `json:"problem,omitempty"` // why doctor could not run
	Etcd     int              `json:"etcd_endpoints"`
	Proxies  int              `json:"proxies"`
	Shards   int              `json:"shards"`
}

// known returns recent results.
func (e *examiner) known() (members []etcd.Health, found []doctor.Finding) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if time.Since(e.asked) < tooOld {
		members = e.members
	}
	if time.Since(e.examined) < tooOld {
		found = e.report.Findings
	}
	return members, found
}

func (e *examiner) found() findings {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := findings{Findings: []doctor.Finding{}}
	if time.Since(e.examined) >= tooOld {
		return f
	}
	f.At, f.Etcd, f.Proxies, f.Shards = e.examined, e.report.Etcd, e.report.Proxies, e.report.Shards
	f.Findings = append(f.Findings, e.report.Findings...)
	if e.err != nil {
		f.Problem = e.err.Error()
	}
	return f
}

// visit records that somebody views the page.
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

// due returns what must be queried now.
func (e *examiner) due(now time.Time) (members, all bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if now.Sub(e.visited) > stillLooks {
		return false, false
	}
	return now.Sub(e.asked) >= membersEvery, e.again || now.Sub(e.examined) >= doctorEvery
}

// run makes due queries until ctx ends.
func (e *examiner) run(ctx context.Context) {
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
	e.again = false
	e.mu.Unlock()
	report, err := e.ground.Examine(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.report, e.err, e.examined = report, err, time.Now()
}
