package ha

import (
	"context"
	"time"

	"locus/idgen"
)

// probeIfDue asks a member that callers keep away from for one number, in the background, once its time has come. The
// number is nobody's. It is called with mu held, by callers: without any there is nothing to know.
func (g *Generator) probeIfDue(i int, now time.Duration) {
	m := &g.known[i]
	if m.state != Slow && m.state != Aside || m.probing || now < m.probe || g.ctx.Err() != nil {
		return
	}
	m.probing = true
	within := g.options.Timeout << m.lateProbes
	g.probing.Go(func() { g.probe(i, within) })
}

// mostDoublings of the time that a probe has. Nobody waits for it, and what a member has to do first, such as to log in to
// its server, may take longer than any call afterwards, and is begun anew when it is given up.
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
