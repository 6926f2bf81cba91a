package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locus/cmd/watch"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/router"
	"locus/router/gene"
)

// view is what the page of moves shows.
type view struct {
	Jobs       []jobView
	Past       []*job.Job // the newest first
	Proxies    []proxyView
	MapVersion int64
	Strip      strip
	Sessions   int
	Holding    int64
	Held       uint64
}

type proxyView struct {
	Name    string
	Version int64
}

type jobView struct {
	ID, From, To, Doing, Runner string
	Phase, Mood                 string
	Genes                       int
	Why, Remedy                 string
	Trouble, Silent             string
	Bars                        []barView
	Figures                     []figure
	Journal                     []job.Entry // the newest first
}

type barView struct {
	Name, Class, Text string
	Percent, Goal     float64
}

type figure struct{ Name, Value, Mood string }

func newView(list []watch.Seen, proxies map[string]int64, p Proxy, now time.Time) *view {
	m, status := p.Map(), p.Status()
	v := &view{MapVersion: m.Version(), Strip: newStrip(m), Proxies: sorted(proxies), Sessions: status.Sessions}
	if status.Counts != nil {
		v.Holding, v.Held = status.Counts.Holding.Load(), status.Counts.Held.Load()
	}
	for _, s := range list {
		if s.Job.State.Over() {
			v.Past = append(v.Past, s.Job)
		} else {
			v.Jobs = append(v.Jobs, newJobView(s, now))
		}
	}
	slices.Reverse(v.Past)
	return v
}

// journalShown bounds the lines of a journal on the page.
const journalShown = 60

func newJobView(s watch.Seen, now time.Time) jobView {
	j, r := s.Job, s.Report
	p := job.See(j, s.Earlier, r, now)
	v := jobView{
		ID: j.ID, From: string(j.From), To: string(j.To), Genes: j.State.Total, Phase: string(j.State.Shown()), Mood: mood(j.State.Shown()),
		Doing: r.Doing, Runner: r.Runner, Why: j.State.Why, Remedy: j.State.Remedy, Trouble: r.Trouble,
		Bars: bars(j, r, p), Figures: figures(j, r, p, now),
	}
	if p.Silent > 0 {
		v.Silent = watch.Rounded(p.Silent)
	}
	v.Journal = slices.Clone(j.Journal[max(0, len(j.Journal)-journalShown):])
	slices.Reverse(v.Journal)
	return v
}

func mood(p phase.Phase) string {
	switch p {
	case phase.Failed:
		return "bad"
	case phase.Paused, phase.RollingBack, phase.Aborting, phase.Aborted:
		return "warn"
	case phase.Ready, phase.Cut, phase.Done:
		return "good"
	case phase.Planned, phase.Copying, phase.CatchingUp, phase.Verifying, phase.Cutting, phase.Retiring:
	}
	return ""
}

func bars(j *job.Job, r job.Report, p job.Progress) []barView {
	copied := barView{Name: "copied", Class: "copied", Percent: p.Copied}
	if r.Lanes > 0 {
		copied.Text = fmt.Sprintf("%s rows, %d of %d lanes", watch.Count(r.RowsCopied), r.LanesDone, r.Lanes)
	}
	verified := barView{Name: "verified", Class: "verified", Percent: p.Verified}
	if r.RowsVerified > 0 {
		verified.Text = watch.Count(r.RowsVerified) + " rows"
	}
	target := barView{Name: "at target", Class: "target", Percent: p.AtTarget, Goal: p.Wanted}
	if p.Wanted != p.AtTarget {
		target.Text = fmt.Sprintf("%s of %s genes, on the way to %s", watch.Count(int64(j.State.Cut)), watch.Count(int64(j.State.Total)), watch.Percent(p.Wanted))
	}
	return []barView{copied, verified, target}
}

func figures(j *job.Job, r job.Report, p job.Progress, now time.Time) []figure {
	if r.Runner == "" {
		return nil
	}
	list := []figure{
		{Name: "rows per second", Value: watch.Count(int64(p.Rows))},
		{Name: "changes per second", Value: watch.Count(int64(p.Changes))},
		{Name: "lag to the target", Value: milliseconds(r.LagMs), Mood: worse(r.LagMs, 1000, 5000)},
	}
	add := func(there bool, f figure) {
		if there {
			list = append(list, f)
		}
	}
	add(j.State.Reversible, figure{"lag back", milliseconds(r.BackLagMs), worse(r.BackLagMs, 1000, 5000)})
	list = append(list, figure{"conflicts", watch.Count(r.Conflicts), worse(r.Conflicts, 1, 1000)})
	add(r.LastFenceMs > 0, figure{"last step held", milliseconds(r.LastFenceMs), worse(r.LastFenceMs, 100, 1000)})
	if r.After.Statements+r.Before.Statements > 0 {
		list = append(list, figure{Name: "moved genes, since the last step", Value: watch.Fared(r.After)}, figure{Name: "the same genes, before", Value: watch.Fared(r.Before)})
	}
	add(p.NextStep >= 0, figure{Name: "next step in", Value: watch.Rounded(p.NextStep)})
	add(p.Left > 0, figure{Name: "about left", Value: watch.Rounded(p.Left)})
	add(!r.Verified.IsZero(), figure{Name: "found equal", Value: watch.Rounded(now.Sub(r.Verified)) + " ago"})
	add(r.RowsDeleted > 0, figure{Name: "rows deleted", Value: watch.Count(r.RowsDeleted)})
	return list
}

func milliseconds(n int64) string { return watch.Count(n) + " ms" }

func worse(n, warn, bad int64) string {
	switch {
	case n >= bad:
		return "bad"
	case n >= warn:
		return "warn"
	}
	return ""
}

// strip is the route map as one line, 1,000 wide.
type strip struct {
	Parts, Moving []part
	Legend        []legend
	Text          string
}

type part struct {
	Class    string
	X, Width float64
}

type legend struct {
	Class, Name string
	Genes       int
}

// shades is how many colours there are for shards.
const shades = 8

func newStrip(m *router.Map) strip {
	whole := float64(int(1) << m.Width())
	place := func(first, last gene.Gene, class string) part {
		return part{class, 1000 * float64(first) / whole, 1000 * float64(last-first+1) / whole}
	}
	var s strip
	class := map[router.ShardName]string{}
	var words []string
	for i, name := range m.Shards() {
		class[name] = "s" + strconv.Itoa(i%shades)
		n := m.GenesOf(name).Len()
		s.Legend = append(s.Legend, legend{class[name], string(name), n})
		words = append(words, fmt.Sprintf("%s has %d genes", name, n))
	}
	first := gene.Gene(0)
	for _, e := range m.Entries() {
		s.Parts = append(s.Parts, place(first, e.Bound, class[e.Shard]))
		first = e.Bound + 1
	}
	for _, r := range m.Moving().Ranges() {
		s.Moving = append(s.Moving, place(r.First, r.Last, "moving"))
	}
	s.Text = strings.Join(words, ", ")
	return s
}
