package overview

import (
	"fmt"
	"slices"

	"locus/control/finding"
	"locus/router"
)

// findings returns all findings of the cluster, each once: those from the current data of the processes, and
// those of locus doctor. A failed server is one finding that contains its consequences, and so is etcd.
func findings(seen Seen) []finding.Finding {
	causes := append(etcdDown(seen), serversDown(seen)...)
	var rest []finding.Finding
	for _, f := range slices.Concat(membersFound(seen), proxiesFound(seen), shardsFound(seen), primariesFound(seen), movesFound(seen), seen.Findings) {
		if at := slices.IndexFunc(causes, func(c cause) bool { return f.Symptom && c.covers(f) }); at >= 0 {
			causes[at].absorb(f)
		} else {
			rest = append(rest, f)
		}
	}
	for _, c := range causes {
		slices.SortFunc(c.Consequences, finding.Fact.Compare)
		c.Consequences = slices.Compact(c.Consequences)
		rest = append(rest, c.Finding)
	}
	finding.Acknowledge(rest, seen.Acknowledged, seen.At)
	if rest = finding.Sort(rest); rest == nil {
		rest = []finding.Finding{}
	}
	return rest
}

// cause is a finding that others follow from.
type cause struct {
	finding.Finding
	covers func(finding.Finding) bool
}

// absorb adds a consequence. The cause is as severe as the worst of them.
func (c *cause) absorb(f finding.Finding) {
	c.Severity = max(c.Severity, f.Severity)
	c.Consequences = append(c.Consequences, f.Fact)
	for _, name := range f.Shards { // a job may concern another shard, too
		if !slices.Contains(c.Shards, name) {
			c.Shards = append(c.Shards, name)
		}
	}
}

// judge sets the fields that follow from the findings.
func (s *State) judge(list []finding.Finding) {
	s.Findings, s.Summary = list, finding.Summarize(list)
	s.Well, s.Problems = s.Healthy(), s.Outages+s.AtRisk
	if !s.Well {
		s.Worst = list[0].Headline()
	}
	for i := range s.Etcd {
		s.Etcd[i].Severity = worst(list, func(f finding.Finding) bool { return about(f, "etcd", s.Etcd[i].Endpoint) })
	}
	for i, p := range s.Proxies {
		s.Proxies[i].Severity = worst(list, func(f finding.Finding) bool { return about(f, "", p.ID) })
	}
	for i, sh := range s.Shards {
		s.Shards[i].Severity = worst(list, func(f finding.Finding) bool { return slices.Contains(f.Shards, router.ShardName(sh.Name)) })
	}
	for i, m := range s.Moves {
		s.Moves[i].Severity = worst(list, func(f finding.Finding) bool { return about(f, "moves", m.ID) })
	}
}

// worst returns the highest severity of open findings.
func worst(list []finding.Finding, of func(finding.Finding) bool) (s finding.Severity) {
	for _, f := range list {
		if f.Open() && of(f) {
			s = max(s, f.Severity)
		}
	}
	return s
}

// about reports whether a finding, or a consequence of it, is of a check and a place. An empty check stands for any.
func about(f finding.Finding, check, where string) bool {
	is := func(f finding.Fact) bool { return (check == "" || f.Check == check) && f.Where == where }
	return is(f.Fact) || slices.ContainsFunc(f.Consequences, is)
}

func quantity(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
