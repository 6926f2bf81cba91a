package advise

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"locus/proxy/meter"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// Cluster is a cluster whose proxies have counted the statements.
type Cluster struct {
	// Declared are the declarations of its tables.
	Declared *Proposal

	shards []router.ShardName // the default shard first
	routes *router.Map
}

// NewCluster returns the data of a cluster that a proposal needs.
func NewCluster(c *cluster.Cluster) *Cluster {
	first := c.Settings.DefaultShard
	others := slices.DeleteFunc(c.ShardNames(), func(n router.ShardName) bool { return n == first })
	declared := &Proposal{Shards: len(c.Routes.Shards()), Tables: map[string]*Table{}}
	for _, name := range c.TableNames() {
		if d := c.Tables[name]; d.Kind != catalog.Outside {
			declared.Tables[name.String()] = &Table{Declare: d.Words()}
		}
	}
	return &Cluster{Declared: declared, shards: slices.Insert(others, 0, first), routes: c.Routes}
}

// Counted adds the statements that the proxies have counted.
func (w *Workload) Counted(r meter.Report, proxies int) {
	var others, cut uint64
	for _, d := range r.Digests {
		switch {
		case d.Text == meter.Others:
			others += d.Count
			continue
		case strings.HasSuffix(d.Text, "…"):
			cut += d.Count
			continue
		}
		if added := w.addDigest(d.Database, d.Text, "", d.Count, d.TotalMs/1000); added != nil {
			added.several += min(d.Several, d.Count)
		}
	}
	if cut > 0 {
		w.Notes = append(w.Notes, fmt.Sprintf("%s statements were not planned, because the proxies keep only the beginnings of their texts", grouped(cut)))
	}
	w.Others += others + r.Others.Count
	w.Over = r.At.Sub(r.Since)
	w.Sources = append(w.Sources, fmt.Sprintf("%d proxies: %d digests of %s", proxies, len(r.Digests), w.Over.Round(1e9)))
}

// steps returns the commands that declare the tables that are not declared yet.
func (c *Cluster) steps(p *Proposal) (list []Step) {
	var sharded, global []string
	for _, name := range p.sorted() {
		if c.Declared.of(name) != nil {
			continue
		}
		t := p.of(name)
		command := fmt.Sprintf("locus import %s %s --dry-run", shellWord(name.String()), t.Declare)
		switch {
		case t.Declare == string(catalog.Global):
			global = append(global, command)
		case t.Add == nil:
			sharded = append(sharded, command)
		default:
			sharded = append(sharded, fmt.Sprintf("# %s needs a column %s first, a copy of %s.%s where %s = %s", name, t.Add.Column, t.Add.From, t.Add.Value, t.Add.By, t.Add.Key), command)
		}
	}
	for _, part := range []struct {
		what     string
		commands []string
	}{{"Shard tables that are on one shard.", sharded}, {"Make tables global that are on one shard.", global}} {
		if len(part.commands) > 0 {
			list = append(list, Step{part.what, part.commands})
		}
	}
	return list
}

// Summary returns one sentence about the change that most of the statements on all shards would need. It returns "" if there are none, or if the time
// is not known in which they were counted.
func (r *Report) Summary() string {
	statements, perDay := 0, 0.0
	owners := map[string]float64{}
	for i := range r.Digests {
		d := &r.Digests[i]
		if len(d.Owners) == 0 || d.PerDay == 0 {
			continue
		}
		statements++
		perDay += d.PerDay
		for _, o := range d.Owners {
			owners[o] += d.PerDay
		}
	}
	if statements == 0 {
		return ""
	}
	digests, best := "1 digest", ""
	if statements > 1 {
		digests = fmt.Sprintf("%d digests", statements)
	}
	for _, o := range slices.Sorted(maps.Keys(owners)) {
		if best == "" || owners[o] > owners[best] {
			best = o
		}
	}
	return fmt.Sprintf("Rows of all shards are needed by %s, %s a day. Most of them would need one shard if they named %s.", digests, times(uint64(perDay)), best)
}
