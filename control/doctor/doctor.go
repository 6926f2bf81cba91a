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

// Options contains the cluster to check, and how to access it.
type Options struct {
	Cluster *cluster.Cluster
	KV      *etcd.KV
	// Health queries the state of etcd's members.
	Health func(context.Context) []etcd.Health
	Jobs   *jobs.Store
	// Secrets looks up a secret in the configuration of this command. It is used if no proxy reports the
	// secrets that it lacks.
	Secrets func(name string) (string, error)
	// MaxConnections is the limit of connections per proxy for a shard that declares none.
	MaxConnections int
	// XA reports that the proxies use two-phase commit for transactions over several shards.
	XA  bool
	Now func() time.Time
	// Pause is the time between the two checks of problems that may be temporary.
	Pause time.Duration
}

// patience is the time limit for each query of etcd or the proxies.
const patience = 5 * time.Second

// examination is one run of the checks.
type examination struct {
	Options
	cards []fleet.Card

	mu       sync.Mutex // guards the fields below
	findings []finding.Finding
	passing  []finding.Finding // findings of the first check that count only if the second check has them too
	lacking  map[router.ShardName]*config.MissingSecret
}

// Examine runs all checks. A check that can't be run is a finding as well.
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

// symptom is like find, for a problem that may be a consequence of a failed server of the shard.
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

// placed adds the shard that the finding's place names.
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

// mayPass is like find, but for states that a healthy cluster may show for a moment, such as a branch that is being committed.
func (e *examination) mayPass(severity finding.Severity, check, where, remedy, format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.passing = append(e.passing, e.placed(finding.New(severity, check, where, remedy, format, args...)))
}

// passes repeats the checks after a pause, and keeps the findings of both times.
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

// order sorts the findings and removes duplicates.
func (e *examination) order() {
	if e.findings = finding.Sort(e.findings); e.findings == nil {
		e.findings = []finding.Finding{}
	}
}
