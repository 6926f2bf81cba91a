package ha

import (
	"context"
	"time"

	"locus/idgen"
)

// probeIfDue asks an avoided member for one number in the background, if a probe is due. The number is discarded. Callers
// call it with mu held, since without calls no state is needed.
func (g *Generator) probeIfDue(i int, now time.Duration) {
	m := &g.known[i]
	if m.state != Slow && m.state != Aside || m.probing || now < m.probe || g.ctx.Err() != nil {
		return
	}
	m.probing = true
	within := g.options.Timeout << m.lateProbes
	g.probing.Go(func() { g.probe(i, within) })
}

// mostDoublings bounds the doublings of a probe's time limit. No caller waits for a probe. A member's first steps, such as a
// login to its server, may take longer than any later call, and a timeout restarts them.
const mostDoublings = 3

func (g *Generator) probe(i int, within time.Duration) {
	ctx, cancel := context.WithTimeout(g.ctx, within)
	defer cancel()
	began := g.now()
	_, err := idgen.One(ctx, g.members[i])
	took := g.now() - began
	g.mu.Lock()
	defer g.mu.Unlock()
	m, now := &g.known[i], g.now()
	m.probing, m.probe = false, now+g.options.Aside
	if g.ctx.Err() != nil {
		return
	}
	switch {
	case err == nil:
		m.lateProbes = 0
	case ctx.Err() != nil:
		m.lateProbes = min(m.lateProbes+1, mostDoublings)
	}
	if err == nil && took <= g.options.Slow && m.state == Slow {
		m.state, m.err, m.slow = Well, nil, nil
		g.options.Changed(Member{i, Well, nil})
		return
	}
	g.judge(i, now, took, err)
}
