package overview

import (
	"fmt"
	"slices"
	"strings"

	"locus/control/doctor"
)

// gravity is the severity of a problem.
type gravity int

const (
	found    gravity = iota // found by doctor only
	limps                   // something is slow, lags or waits
	failing                 // a move or a proxy is stuck
	down                    // a shard's rows are unavailable
	headless                // nothing can be served, or nothing is known
)

// judge counts the problems and finds the worst. Something that a finding is also about counts once.
func (s *State) judge() {
	told := map[string]bool{}
	for _, f := range s.Findings {
		where, _, _ := strings.Cut(f.Where, " at ") // a server belongs to its shard
		told[where] = true
	}
	s.Problems = len(s.Findings)
	worst := found - 1
	weigh := func(text string, g gravity) {
		if g > worst {
			worst, s.Worst = g, text
		}
	}
	count := func(where, problem, text string, g gravity) {
		if problem == "" {
			return
		}
		if !told[where] {
			s.Problems++
		}
		weigh(text, g)
	}
	etcdGrave := headless
	if slices.ContainsFunc(s.Etcd, func(e Etcd) bool { return e.Problem == "" }) {
		etcdGrave = limps
	}
	for _, e := range s.Etcd {
		count(e.Endpoint, e.Problem, "etcd: "+e.Endpoint+" "+e.Problem, etcdGrave)
	}
	if len(s.Proxies) == 0 {
		if !slices.ContainsFunc(s.Findings, func(f doctor.Finding) bool { return f.Check == "proxies" }) {
			s.Problems++
		}
		weigh("no proxy lives", headless)
	}
	for _, p := range s.Proxies {
		g := limps
		if p.down {
			g = failing
		}
		count(p.ID, p.Problem, "proxy "+p.ID+" "+p.Problem, g)
	}
	for _, sh := range s.Shards {
		text := fmt.Sprintf("shard %s is %s", sh.Name, sh.State)
		if sh.State == "well" {
			text = "shard " + sh.Name + ": " + sh.Problem
		}
		count(sh.Name, sh.Problem, text, sh.grave)
	}
	for _, m := range s.Moves {
		count(m.ID, m.Problem, "move "+m.ID+": "+m.Problem, failing)
	}
	for _, f := range s.Findings {
		weigh(f.Where+": "+f.What, found)
	}
	s.Well = s.Problems == 0
}

func quantity(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
