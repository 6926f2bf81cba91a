package meter

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Kind is what a statement is, as people and dashboards sort statements.
type Kind uint8

// The kinds.
const (
	Other Kind = iota
	Select
	Insert
	Replace
	Update
	Delete
	LoadFile
	Call
	Definition // CREATE, ALTER, DROP, TRUNCATE, …
	Begin
	Commit
	Rollback
	Set
	Show // DESCRIBE and EXPLAIN too
	kinds
)

var kindWords = [kinds]string{
	"other", "select", "insert", "replace", "update", "delete", "load", "call", "ddl", "begin", "commit", "rollback", "set", "show",
}

func (k Kind) String() string { return kindWords[k] }

// Where a statement ran that did not run on one shard. No shard can be called so.
const (
	NoShard       = "(none)" // the proxy answered, or refused it
	SeveralShards = "(several)"
)

// Ending is how a statement ended.
type Ending uint8

// The endings.
const (
	Done    Ending = iota
	Errored        // or refused, or its connection ended with it
	endings
)

func (o Ending) String() string { return [endings]string{"ok", "error"}[o] }

// lanes is into how many parts a count is divided that all sessions add to, so that
// two cores seldom meet in one. A power of two.
const lanes = 8

// Latencies is how long statements took, by what they are, where they ran and how they
// ended. The zero value is ready; safe for concurrent use.
type Latencies struct {
	mu     sync.Mutex // of a shard that is new
	series [kinds][endings]atomic.Pointer[map[string]*striped]
}

// striped are cells for each lane; most of them are nil for what is rare.
type striped [lanes]atomic.Pointer[cells]

func (s *striped) of(lane uint32) *cells {
	p := &s[lane%lanes]
	if c := p.Load(); c != nil {
		return c
	}
	p.CompareAndSwap(nil, new(cells))
	return p.Load()
}

// add counts a statement. Sessions give the lane, each always the same.
func (l *Latencies) add(lane uint32, k Kind, shard string, o Ending, cell int, took time.Duration) {
	at := &l.series[k][o]
	if m := at.Load(); m != nil {
		if s := (*m)[shard]; s != nil {
			s.of(lane).add(cell, took)
			return
		}
	}
	l.grow(at, shard).of(lane).add(cell, took)
}

// grow makes room for a shard, in a copy of the others: who reads takes no lock.
func (l *Latencies) grow(at *atomic.Pointer[map[string]*striped], shard string) *striped {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := map[string]*striped{}
	if m := at.Load(); m != nil {
		for name, s := range *m {
			next[name] = s
		}
	}
	if s := next[shard]; s != nil {
		return s
	}
	s := new(striped)
	next[shard] = s
	at.Store(&next)
	return s
}

// Latency is how long the statements of a kind took that ran on a shard and ended so.
type Latency struct {
	Kind   Kind
	Shard  string
	Ending Ending
	Distribution
}

// All is what was counted, in a fixed order.
func (l *Latencies) All() (list []Latency) {
	for k := range kinds {
		for o := range endings {
			m := l.series[k][o].Load()
			if m == nil {
				continue
			}
			for shard, s := range *m {
				found := Latency{Kind: k, Shard: shard, Ending: o}
				for i := range s {
					if c := s[i].Load(); c != nil {
						found.take(c)
					}
				}
				list = append(list, found)
			}
		}
	}
	slices.SortFunc(list, func(a, b Latency) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Ending, b.Ending))
	})
	return list
}
