package meter

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"
)

// mostNames is the number of names that names distinguishes. OtherNames stands for all further ones.
const (
	mostNames  = 64
	OtherNames = "(others)"
)

// names counts the statements of a digest by a name, such as the shard. The zero value is ready. It is safe for concurrent use.
//
// A digest has few names, so that a linear search is cheaper than a map.
type names struct {
	list atomic.Pointer[[]*named] // replaced when a name is added
}

type named struct {
	name        string
	ran, failed atomic.Uint64
	sum         atomic.Uint64 // nanoseconds
}

func (n *names) add(name string, took time.Duration, failed bool) {
	of := n.find(name)
	of.ran.Add(1)
	of.sum.Add(uint64(max(0, took)))
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
			return of
		}
	}
}

// Part contains the figures of the statements of a digest that have one name in common: the shard, the user, or the code of their error.
type Part struct {
	Name    string  `json:"name"`
	Count   uint64  `json:"count"`
	Failed  uint64  `json:"errors,omitempty"`
	TotalMs float64 `json:"total_ms"`
}

// parts returns the figures by name.
func (n *names) parts() []Part {
	var list []Part
	for _, of := range n.all() {
		list = append(list, Part{of.name, of.ran.Load(), of.failed.Load(), milliseconds(time.Duration(of.sum.Load()))})
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
		sum[i].Count += p.Count
		sum[i].Failed += p.Failed
		sum[i].TotalMs += p.TotalMs
	}
	slices.SortStableFunc(sum, func(a, b Part) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	return sum
}

// sinceParts returns the differences to an earlier list, without the names that have none.
func sinceParts(now, before []Part) []Part {
	var since []Part
	for _, p := range now {
		if i := slices.IndexFunc(before, func(q Part) bool { return q.Name == p.Name }); i >= 0 {
			p.Count -= min(p.Count, before[i].Count)
			p.Failed -= min(p.Failed, before[i].Failed)
			p.TotalMs = max(0, p.TotalMs-before[i].TotalMs)
		}
		if p.Count > 0 {
			since = append(since, p)
		}
	}
	return since
}
