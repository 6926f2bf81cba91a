package meter

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Kind classifies statements, for reports and dashboards.
type Kind uint8

// Kinds of statements.
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
	Show // also DESCRIBE and EXPLAIN
	kinds
)

var kindWords = [kinds]string{
	"other", "select", "insert", "replace", "update", "delete", "load", "call", "ddl", "begin", "commit", "rollback", "set", "show",
}

func (k Kind) String() string { return kindWords[k] }

// Labels for statements that did not run on exactly one shard. They are not valid shard names.
const (
	NoShard       = "(none)" // answered or refused by the proxy itself
	SeveralShards = "(several)"
)

// Ending is how a statement ended.
type Ending uint8

// Endings of statements.
const (
	Done    Ending = iota
	Errored        // refused statements, and statements whose connection was lost
	endings
)

func (o Ending) String() string { return [endings]string{"ok", "error"}[o] }

// lanes is the number of parts of a count that all sessions share, so that two cores rarely contend for one. It is a
// power of two.
const lanes = 8

// Latencies contains the times of statements by kind, shard and ending. The zero value is ready. It is safe for concurrent use.
type Latencies struct {
	mu     sync.Mutex // held while a new shard is added
	series [kinds][endings]atomic.Pointer[map[string]*striped]
}

// striped contains cells for each lane. For rare statements most of them are nil.
type striped [lanes]atomic.Pointer[cells]

func (s *striped) of(lane uint32) *cells {
	p := &s[lane%lanes]
	if c := p.Load(); c != nil {
		return c
	}
	p.CompareAndSwap(nil, new(cells))
	return p.Load()
}

// add counts a statement. A session always passes the same lane.
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

// grow adds a shard to a copy of the map, so that readers take no lock.
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

// Latency contains the times of the statements of one kind, shard and ending.
type Latency struct {
	Kind   Kind
	Shard  string
	Ending Ending
	Distribution
}

// All returns all counts, in a fixed order.
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
