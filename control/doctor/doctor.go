package doctor

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"locus/config"
	"locus/config/etcd"
	"locus/control/finding"
	"locus/control/fleet"
	"locus/control/jobs"
	"locus/router"
	"locus/router/cluster"
)

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
	findings []finding.Finding
	passing  []finding.Finding // that count if they are there a second time
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
	e.shards(ctx)
	if err := e.passes(ctx); err != nil {
		return Report{}, err
	}
	e.order()
	return Report{At: o.Now().UTC(), Etcd: endpoints, Proxies: len(e.cards), Shards: len(o.Cluster.Shards), Findings: e.findings}, nil
}

func (e *examination) find(severity finding.Severity, check, where, remedy, format string, args ...any) {
	e.add(finding.New(severity, check, where, remedy, format, args...))
}

// symptom is find for what a server of the shard that is down may cause.
func (e *examination) symptom(severity finding.Severity, of router.ShardName, check, where, remedy, format string, args ...any) {
	f := finding.New(severity, check, where, remedy, format, args...)
	f.Shards, f.Symptom = []router.ShardName{of}, true
	e.add(f)
}

func (e *examination) add(f finding.Finding) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.findings = append(e.findings, e.placed(f))
}

// placed returns the finding with the shard that its place names.
func (e *examination) placed(f finding.Finding) finding.Finding {
	if e.Cluster == nil || f.Shards != nil {
		return f
	}
	name, _, _ := strings.Cut(f.Where, " at ")
	if _, is := e.Cluster.Shards[router.ShardName(name)]; is {
		f.Shards = []router.ShardName{router.ShardName(name)}
	}
	return f
}

// mayPass is find for what is under way at any moment in a cluster that is well.
func (e *examination) mayPass(severity finding.Severity, check, where, remedy, format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.passing = append(e.passing, e.placed(finding.New(severity, check, where, remedy, format, args...)))
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
	e.keys(ctx)
	e.branches(ctx)
	for _, f := range e.passing {
		if slices.ContainsFunc(first, func(o finding.Finding) bool { return o.Fact == f.Fact }) {
			e.findings = append(e.findings, f)
		}
	}
	return nil
}

// order puts findings in their order, each once.
func (e *examination) order() {
	if e.findings = finding.Sort(e.findings); e.findings == nil {
		e.findings = []finding.Finding{}
	}
}
