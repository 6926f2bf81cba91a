package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"

	"locus/internal/test/process"
	"locus/migrate/job"
	"locus/migrate/phase"
)

// Until checks a condition until it holds, and fails the test after [process.Patience] with the last error. It is for conditions that
// announce no change; etcd may be down meanwhile.
func Until(t *testing.T, what string, holds func() (bool, error)) {
	t.Helper()
	timeout := time.After(process.Patience)
	for {
		began := time.Now()
		ok, err := holds()
		if ok {
			return
		}
		select {
		case <-timeout:
			t.Fatalf("%s: not within %v; %v", what, process.Patience, err)
		case <-time.After(process.Rest(time.Since(began))):
		}
	}
}

// unheard bounds the time between two reads of a job: etcd may be down when the job changes.
const unheard = 500 * time.Millisecond

// AwaitJob waits until a job is in a state. It reads the job when a job has changed. A job that fails while the test waits for another
// phase fails the test.
func (c *Cluster) AwaitJob(id, what string, is func(phase.State) bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), process.Patience)
	defer cancel()
	changes := c.Jobs.Changes(ctx)
	last := "it was not read"
	for {
		s, err := c.Jobs.Read(ctx, id)
		switch {
		case err != nil:
			last = err.Error()
		case is(s.Job.State):
			return
		case s.Job.State.Phase == phase.Failed:
			c.t.Fatalf("job %s has failed: %s", id, s.Job.State.Why)
		default:
			last = string(s.Job.State.Shown())
		}
		select {
		case <-ctx.Done():
			c.t.Fatalf("job %s is not %s within %v: %s", id, what, process.Patience, last)
		case <-changes:
		case <-time.After(unheard):
		}
	}
}

// AwaitPhase waits until a job is in a phase.
func (c *Cluster) AwaitPhase(id string, p phase.Phase) {
	c.t.Helper()
	c.AwaitJob(id, string(p), func(s phase.State) bool { return s.Phase == p })
}

// Claimant returns which proxy's process runs a job; none is nil.
func (c *Cluster) Claimant(id string) (*Proxy, error) {
	name, _, err := c.KV.Get(c.t.Context(), job.ClaimPrefix+id)
	if err != nil {
		return nil, fmt.Errorf("which process runs %s: %w", id, err)
	}
	for _, p := range c.Proxies {
		if addr := p.Addr(); addr != "" && addr == string(name) {
			return p, nil
		}
	}
	return nil, nil
}

// AwaitPoint waits until any proxy's process has stopped at one of the points, and returns which and where.
func (c *Cluster) AwaitPoint(points ...string) (mover *Proxy, point string) {
	c.t.Helper()
	Until(c.t, fmt.Sprintf("a process stops at %v", points), func() (bool, error) {
		for _, p := range c.Proxies {
			if at, ok := p.Stopped(points...); ok {
				mover, point = p, at
				return true, nil
			}
		}
		return false, nil
	})
	return mover, point
}
