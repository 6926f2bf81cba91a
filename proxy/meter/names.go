package meter

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"
)

// mostNames is the number of names that are counted separately. All other names are counted as OtherNames.
const (
	mostNames  = 64
	OtherNames = "(others)"
)

// names counts the statements of a digest by a name, such as the shard. The zero value is ready. It is safe for concurrent use.
//
// A digest has few names, so that a linear search is cheaper than a map.
type names struct {
	list  atomic.Pointer[[]*named] // replaced when a name is added
	timed atomic.Bool              // names have a spread
}

type named struct {
	name        string
	ran, failed atomic.Uint64
	sum         atomic.Uint64         // nanoseconds
	spread      atomic.Pointer[cells] // nil unless the name is timed
}

func (n *names) add(name string, cell int, took time.Duration, failed bool) {
	of := n.find(name)
	of.ran.Add(1)
	of.sum.Add(uint64(max(0, took)))
	if c := of.spread.Load(); c != nil {
		c.count(cell, 1)
	}
	if failed {
		of.failed.Add(1)
	}
}

func (n *names) find(name string) *named {
	for _, of := range n.all() {
		if of.name == name {
			return of
		}
	}
	return n.grow(name)
}

func (n *names) all() []*named {
	if list := n.list.Load(); list != nil {
		return *list
	}
	return nil
}

// grow adds a name, or returns the counters of all further names.
func (n *names) grow(name string) *named {
	for {
		before := n.list.Load()
		all := n.all()
		if len(all) >= mostNames {
			name = OtherNames
		}
		if i := slices.IndexFunc(all, func(of *named) bool { return of.name == name }); i >= 0 {
			return all[i]
		}
		of := &named{name: name}
		next := append(slices.Clone(all), of)
		if n.list.CompareAndSwap(before, &next) {
			of.time(n.timed.Load()) // after it is in the list, so that time can't miss it
			return of
		}
	}
}

// time begins or ends to count the times of each name.
func (n *names) time(on bool) {
	n.timed.Store(on)
	for _, of := range n.all() {
		of.time(on)
	}
}

func (of *named) time(on bool) {
	switch {
	case !on:
		of.spread.Store(nil)
	case of.spread.Load() == nil:
		of.spread.CompareAndSwap(nil, new(cells))
	}
}

// Part contains the figures of the statements of a digest that have one name in common: the shard, the user, or the code of their error.
type Part struct {
	Name    string  `json:"name"`
	Count   uint64  `json:"count"`
	Failed  uint64  `json:"errors,omitempty"`
	TotalMs float64 `json:"total_ms"`
	// P50Ms and P99Ms are percentiles of the times in a point of a past; 0: not known. In a sum they are the percentiles of
	// the part with the highest ones.
	P50Ms float32 `json:"p50_ms,omitempty"`
	P99Ms float32 `json:"p99_ms,omitempty"`
}

// parts returns the figures by name.
func (n *names) parts() []Part {
	var list []Part
	for _, of := range n.all() {
		list = append(list, of.part())
	}
	return list
}

func (of *named) part() Part {
	return Part{Name: of.name, Count: of.ran.Load(), Failed: of.failed.Load(), TotalMs: milliseconds(time.Duration(of.sum.Load()))}
}

// timedPart is a part with the distribution of its times, which is empty if they are not counted.
type timedPart struct {
	Part
	times []Times
}

// addTimed adds the figures by name to a list.
func (n *names) addTimed(list []timedPart) []timedPart {
	for _, of := range n.all() {
		p := timedPart{Part: of.part()}
		if c := of.spread.Load(); c != nil {
			var d Distribution
			d.take(c)
			p.times = d.Times()
		}
		i := slices.IndexFunc(list, func(q timedPart) bool { return q.Name == p.Name })
		if i < 0 {
			list = append(list, p)
			continue
		}
		list[i].add(p.Part)
		list[i].times = AddTimes(list[i].times, p.times)
	}
	return list
}

// AddParts adds two lists. The result is sorted by count, highest first.
func AddParts(a, b []Part) []Part {
	sum := slices.Clone(a)
	for _, p := range b {
		i := slices.IndexFunc(sum, func(q Part) bool { return q.Name == p.Name })
		if i < 0 {
			sum = append(sum, p)
			continue
		}
		sum[i].add(p)
	}
	slices.SortStableFunc(sum, byCount)
	return sum
}

func (p *Part) add(q Part) {
	p.Count += q.Count
	p.Failed += q.Failed
	p.TotalMs += q.TotalMs
	p.P50Ms, p.P99Ms = max(p.P50Ms, q.P50Ms), max(p.P99Ms, q.P99Ms)
}

func byCount(a, b Part) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
}

// sinceParts returns the differences to an earlier list with their percentiles, without the names that have none.
func sinceParts(now, before []timedPart) []Part {
	var since []Part
	for _, p := range now {
		times, later := p.times, true
		if i := slices.IndexFunc(before, func(q timedPart) bool { return q.Name == p.Name }); i >= 0 {
			p.Count -= min(p.Count, before[i].Count)
			p.Failed -= min(p.Failed, before[i].Failed)
			p.TotalMs = max(0, p.TotalMs-before[i].TotalMs)
			times, later = SinceTimes(p.times, before[i].times)
		}
		if later && len(times) > 0 {
			p.P50Ms, p.P99Ms = float32(milliseconds(Quantile(times, 0.5))), float32(milliseconds(Quantile(times, 0.99)))
		}
		if p.Count > 0 {
			since = append(since, p.Part)
		}
	}
	slices.SortStableFunc(since, byCount)
	return since
}
