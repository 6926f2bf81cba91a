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
	g.probing.Go(func() { g.probe(i) })
}

func (g *Generator) probe(i int) {
	ctx, cancel := context.WithTimeout(g.ctx, g.options.Timeout)
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
	if err == nil && took <= g.options.Slow && m.state == Slow {
		m.state, m.err, m.slow = Well, nil, nil
		g.options.Changed(Member{i, Well, nil})
		return
	}
	g.judge(i, now, took, err)
}
