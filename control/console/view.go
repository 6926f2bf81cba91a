package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locus/control/fleet"
	"locus/control/watch"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/proxy"
	"locus/proxy/backend"
	"locus/proxy/meter"
	"locus/router"
)

// view is what the dashboard shows.
type view struct {
	Admin      bool // buttons are for them
	Jobs       []jobView
	Past       []*job.Job // the newest first
	MapVersion int64
	Picture    picture
	Shards     []shardView
	Proxies    []proxyView
	Behind     int
	Generators []generatorView
	Replicas   []backend.ReplicaStats
	Problems   string
	Slow       []meter.SlowDigest
	SlowAfter  time.Duration
	Live       string
	Draining   bool

	Sessions  int
	PerSecond float64
	Holding   int64
	Held      uint64
}

type proxyView struct {
	fleet.Card
	Behind int64
}

type shardView struct {
	Name          router.ShardName
	Class         string
	Genes, Moving int
	Share         float64
	Pool          backend.Stats
}

type generatorView struct{ Name, Kind, Of string }

type jobView struct {
	ID, From, To, Doing, Runner string
	Phase, Mood                 string
	Genes                       int
	Percent                     float64
	Left                        string
	Why, Remedy                 string
	Trouble, Silent             string
	Bars, Tables                []barView
	Figures                     []figure
	Fares                       []fareView
	Journal                     []job.Entry // the newest first
	Orders                      []orderView
}

// orderView is a button: what it is called, what is asked before, and what a
// percentage would mean, if it takes one.
type orderView struct {
	Name, Word, Ask, Percent string
	Value                    int
	Grave                    bool
}

// fareView compares how statements on the moved genes fare with how they did.
type fareView struct{ Name, Before, After, Mood string }

type barView struct {
	Name, Class, Text string
	Percent, Goal     float64
}

type figure struct{ Name, Value, Mood string }

func newView(list []watch.Seen, cards []fleet.Card, p Proxy, now time.Time) *view {
	m, status := p.Map(), p.Status()
	names := shardNames(m, status)
	v := &view{
		MapVersion: m.Version(), Picture: newPicture(m, names), Sessions: status.Sessions, Replicas: status.Replicas,
		Live: status.Live.String(), Draining: status.Draining,
	}
	if status.Problems != nil {
		v.Problems = status.Problems.Error()
	}
	if status.Counts != nil {
		v.Holding, v.Held = status.Counts.Holding.Load(), status.Counts.Held.Load()
	}
	if status.Slow != nil {
		all := status.Slow.Digests()
		v.Slow, v.SlowAfter = all[:min(slowShown, len(all))], status.Slow.After()
	}
	for _, c := range cards {
		x := proxyView{c, max(0, m.Version()-c.MapVersion)}
		if x.Behind > 0 {
			v.Behind++
		}
		v.Proxies = append(v.Proxies, x)
	}
	for i, name := range names {
		genes := m.GenesOf(name)
		v.Shards = append(v.Shards, shardView{
			Name: name, Class: "s" + strconv.Itoa(i%shades), Genes: genes.Len(), Moving: genes.Intersect(m.Moving()).Len(),
			Share: 100 * float64(genes.Len()) / float64(int(m.Width().Last())+1), Pool: status.Pools[name],
		})
	}
	for name, g := range p.Generators() {
		v.Generators = append(v.Generators, generatorView{name, string(g.Kind), strings.Join(g.Of, ", ")})
	}
	slices.SortFunc(v.Generators, func(a, b generatorView) int { return strings.Compare(a.Name, b.Name) })
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

// slowShown bounds the slow statements on the page.
const slowShown = 20

// shades is how many colours there are for shards.
const shades = 8

// shardNames is those that are registered, with or without genes.
func shardNames(m *router.Map, s proxy.Status) []router.ShardName {
	names := m.Shards()
	for name := range s.Pools {
		names = append(names, name)
	}
	for _, v := range m.Moves() {
		names = append(names, v.From, v.To)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// journalShown bounds the lines of a journal on the page.
const journalShown = 60

func newJobView(s watch.Seen, now time.Time) jobView {
	j, r := s.Job, s.Report
	p := job.See(j, s.Earlier, r, now)
	v := jobView{
		ID: j.ID, From: string(j.From), To: string(j.To), Genes: j.State.Total, Phase: string(j.State.Shown()), Mood: mood(j.State.Shown()),
		Doing: r.Doing, Runner: r.Runner, Why: j.State.Why, Remedy: j.State.Remedy, Trouble: r.Trouble,
		Percent: p.AtTarget, Bars: bars(j, r, p), Tables: tables(r), Figures: figures(j, r, p, now), Fares: fares(r), Orders: ordersFor(j),
	}
	if p.Left > 0 {
		v.Left = watch.Rounded(p.Left)
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
	add(p.NextStep >= 0, figure{Name: "next step in", Value: watch.Rounded(p.NextStep)})
	add(p.Left > 0, figure{Name: "time left", Value: watch.Rounded(p.Left)})
	add(!r.Verified.IsZero(), figure{Name: "verified", Value: watch.Rounded(now.Sub(r.Verified)) + " ago"})
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

// tables are the bars of single tables.
func tables(r job.Report) []barView {
	var list []barView
	for _, t := range r.Tables {
		b := barView{Name: t.Name, Class: "copied", Percent: t.Percent(), Text: watch.Count(t.RowsCopied) + " rows copied"}
		if n, compared := r.Compared[t.Name]; compared {
			b.Text += ", " + watch.Count(n) + " compared"
		}
		list = append(list, b)
	}
	return list
}

// fares compares the moved genes' statements before the cut-over and since the
// last step.
func fares(r job.Report) []fareView {
	if r.After.Statements+r.Before.Statements == 0 {
		return nil
	}
	failed := func(f job.Fared) float64 { return 100 * float64(f.Failed) / float64(max(1, f.Statements)) }
	ms := func(f job.Fared) string {
		if f.Statements == 0 {
			return "–"
		}
		return strconv.FormatFloat(f.P99Ms, 'g', 3, 64) + " ms"
	}
	return []fareView{
		{"statements", watch.Count(int64(r.Before.Statements)), watch.Count(int64(r.After.Statements)), ""},
		{"failed", watch.Percent(failed(r.Before)), watch.Percent(failed(r.After)), worse(int64(100*(failed(r.After)-failed(r.Before))), 10, 100)},
		{"p99", ms(r.Before), ms(r.After), worse(int64(r.After.P99Ms), int64(2*r.Before.P99Ms)+20, int64(4*r.Before.P99Ms)+100)},
	}
}

// ordersFor are the buttons of a job: those that its state may take.
func ordersFor(j *job.Job) []orderView {
	s := j.State
	var list []orderView
	offer := func(o orderView, order job.Order) {
		if _, err := j.Told(order, "", j.Created); err == nil {
			list = append(list, o)
		}
	}
	if s.Shown() != phase.Failed {
		offer(orderView{Name: "pause", Word: "Pause", Ask: fmt.Sprintf("Pause %s: it only keeps both shards equal until it is resumed.", j.ID)}, job.Just("pause", phase.Pause))
	}
	offer(orderView{Name: "resume", Word: "Resume", Ask: fmt.Sprintf("Go on with %s where it stopped.", j.ID)}, job.Just("resume", phase.Resume))
	offer(orderView{
		Name: "next-step", Word: "Next step", Value: 5, Percent: "% of its genes more go to " + string(j.To),
		Ask: fmt.Sprintf("Hand genes of %s over from %s to %s, and stay there. Statements on them are held for a moment.", j.ID, j.From, j.To),
	}, job.NextStep(5))
	offer(orderView{
		Name: "rollback", Word: "Roll back", Value: 0, Percent: "% of its genes stay at " + string(j.To), Grave: true,
		Ask: fmt.Sprintf("Hand genes of %s back from %s to %s.", j.ID, j.To, j.From),
	}, job.Back(0, 100))
	offer(orderView{
		Name: "finish", Word: "Finish", Grave: true,
		Ask: fmt.Sprintf("Delete the rows of %s on %s. There is no way back but another move.", j.ID, j.From),
	}, job.Just("finish", phase.Finish))
	return list
}
