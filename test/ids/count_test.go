package ids

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// count contains every number that a node has reported.
type count struct {
	mu       sync.Mutex
	byKind   map[uint8]uint64
	taken    map[[2]uint8][]run // by kind and group
	wentBack map[uint8]int      // how often a store of the kind was found to have gone back
}

// run is count numbers from first on.
type run struct {
	first uint64
	count uint32
}

// counters are the counters from which one node has taken numbers.
type counters struct {
	mu    sync.Mutex
	taken map[[2]uint8]bool // by kind and group
}

func newCounters() *counters { return &counters{taken: map[[2]uint8]bool{}} }

func (c *counters) add(r record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.count > 0 {
		c.taken[[2]uint8{r.kind, r.group}] = true
	}
}

// all reports whether the node has taken from each counter of the kind.
func (c *counters) all(kind int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for g := range uint8(groups) {
		if !c.taken[[2]uint8{uint8(kind), g}] {
			return false
		}
	}
	return true
}

func newCount() *count {
	return &count{byKind: map[uint8]uint64{}, taken: map[[2]uint8][]run{}, wentBack: map[uint8]int{}}
}

func (c *count) add(r record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.count == 0 {
		c.wentBack[r.kind]++
		return
	}
	c.byKind[r.kind] += uint64(r.count)
	key := [2]uint8{r.kind, r.group}
	c.taken[key] = append(c.taken[key], run{r.first, r.count})
}

func (c *count) total() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var total uint64
	for _, n := range c.byKind {
		total += n
	}
	return total
}

func (c *count) of(kind int) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byKind[uint8(kind)]
}

func (c *count) foundBack(kind int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wentBack[uint8(kind)]
}

// duplicates returns some numbers that two nodes have, and how many there are.
func (c *count) duplicates() (found []string, n uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, runs := range c.taken {
		slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.first, b.first) })
		end := uint64(0) // behind all numbers so far
		for _, r := range runs {
			if r.first < end {
				overlap := min(end, r.first+uint64(r.count)) - r.first
				n += overlap
				if len(found) < 10 {
					found = append(found, fmt.Sprintf("%s, counter %d: %d numbers from %d on", kinds[key[0]], key[1], overlap, r.first))
				}
			}
			end = max(end, r.first+uint64(r.count))
		}
	}
	return found, n
}

func (c *count) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []string
	for i, kind := range kinds {
		if n := c.byKind[uint8(i)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", kind, n))
		}
	}
	return strings.Join(parts, ", ")
}
