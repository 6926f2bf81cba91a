package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"locus/config"
	"locus/config/etcd"
	"locus/control/fleet"
	"locus/control/jobs"
	"locus/router"
	"locus/router/cluster"
)

// Finding is one thing that is not as it should be.
type Finding struct {
	Check  string `json:"check"`
	Where  string `json:"where"`
	What   string `json:"what"`
	Remedy string `json:"remedy"` // the command or statement
}

// Report is what was looked at, and what was found.
type Report struct {
	Healthy  bool      `json:"healthy"`
	Etcd     int       `json:"etcd_endpoints"`
	Proxies  int       `json:"proxies"`
	Shards   int       `json:"shards"`
	Findings []Finding `json:"findings"`
}

// Options are what is looked at, and how.
type Options struct {
	Cluster *cluster.Cluster
	KV      *etcd.KV
	// Health asks etcd's members how they are.
	Health func(context.Context) []etcd.Health
	Jobs   *jobs.Store
	// Secrets looks for a secret here, where no proxy says what it has found.
	Secrets func(name string) (string, error)
	// MaxConnections is how many a proxy may open to a shard that says nothing
	// else.
	MaxConnections int
	// XA: proxies commit over several shards in two phases.
	XA  bool
	Now func() time.Time
	// Pause is between two looks at what may just be under way.
	Pause time.Duration
}

// patience bounds each question to etcd or the proxies.
const patience = 5 * time.Second

// examination is one run of the checks.
type examination struct {
	Options
	cards []fleet.Card

	mu       sync.Mutex // of what follows
	findings []Finding
	passing  []Finding // that count if they are there a second time
	lacking  map[router.ShardName]*config.MissingSecret
}

// Examine runs all checks. What can't be asked is a finding, too.
func Examine(ctx context.Context, o Options) (Report, error) {
	e := &examination{Options: o}
	var err error
	if e.cards, err = fleet.Cards(ctx, o.KV); err != nil {
		return Report{}, err
	}
	endpoints := e.members(ctx)
	e.documents(ctx)
	var asking sync.WaitGroup
	asking.Go(func() { e.disks(ctx) })
	e.proxies(ctx)
	asking.Wait()
	e.keys(ctx)
	e.rotations(ctx)
	e.generators()
	e.moves(ctx)
	e.primaries(ctx)
	e.shards(ctx)
	if err := e.passes(ctx); err != nil {
		return Report{}, err
	}
	e.order()
	return Report{
		Healthy: len(e.findings) == 0, Etcd: endpoints, Proxies: len(e.cards), Shards: len(o.Cluster.Shards), Findings: e.findings,
	}, nil
}

func (e *examination) find(check, where, remedy, format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.findings = append(e.findings, Finding{check, where, fmt.Sprintf(format, args...), remedy})
}

// mayPass is find for what is under way at any moment in a cluster that is well.
func (e *examination) mayPass(check, where, remedy, format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.passing = append(e.passing, Finding{check, where, fmt.Sprintf(format, args...), remedy})
}

// passes looks again at what may pass, and keeps what did not.
func (e *examination) passes(ctx context.Context) error {
	if len(e.passing) == 0 {
		return nil
	}
	select {
	case <-time.After(e.Pause):
	case <-ctx.Done():
		return ctx.Err()
	}
	first := e.passing
	e.passing = nil
	var err error
	if e.cards, err = fleet.Cards(ctx, e.KV); err != nil {
		return err
	}
	e.versions()
	e.keys(ctx)
	e.branches(ctx)
	for _, f := range e.passing {
		if slices.Contains(first, f) {
			e.findings = append(e.findings, f)
		}
	}
	return nil
}

// order puts findings in the order of checks and places, each once.
func (e *examination) order() {
	slices.SortFunc(e.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Check, b.Check), cmp.Compare(a.Where, b.Where), cmp.Compare(a.What, b.What), cmp.Compare(a.Remedy, b.Remedy))
	})
	e.findings = slices.Compact(e.findings)
	if e.findings == nil {
		e.findings = []Finding{}
	}
}
