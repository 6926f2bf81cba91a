package meter

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"locus/router"
)

// Side is one of the two shards of a move.
type Side uint8

// The sides.
const (
	Source Side = iota
	Target
)

// Moves counts how statements fare that concern one gene on the move, by the job
// and by the shard that ran them. The zero value follows no job; safe for
// concurrent use.
type Moves struct {
	mu   sync.Mutex // held by Follow
	jobs atomic.Pointer[[]*job]
}

type job struct {
	name  string
	sides [2]side
}

// side is how statements fared on one shard.
type side struct {
	failed  atomic.Uint64
	buckets [buckets]atomic.Uint64
}

// A bucket of times is an eighth of an octave above 2^10 ns; the last one has
// whatever is longer than a minute.
const (
	perOctave = 8
	octaves   = 27
	buckets   = perOctave * octaves
	lowest    = 10 // bits
)

func bucketOf(took time.Duration) int {
	n := uint64(max(took, 1))
	octave := bits.Len64(n) - 1 - lowest
	if octave < 0 {
		return 0
	}
	within := n >> (octave + lowest - 3) & (perOctave - 1)
	return min(octave*perOctave+int(within), buckets-1)
}

// upTo is the end of a bucket.
func upTo(bucket int) time.Duration {
	octave, within := bucket/perOctave, bucket%perOctave
	return time.Duration((perOctave + uint64(within) + 1) << (octave + lowest - 3))
}

// Follow has the jobs of these moves counted, and forgets all others.
func (m *Moves) Follow(moves []router.Move) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var before, next []*job
	if p := m.jobs.Load(); p != nil {
		before = *p
	}
	for _, v := range moves {
		i := slices.IndexFunc(before, func(j *job) bool { return j.name == v.Job })
		if i < 0 {
			next = append(next, &job{name: v.Job})
		} else {
			next = append(next, before[i])
		}
	}
	m.jobs.Store(&next)
}

// Add counts a statement that took so long from when it was let go to the end of
// its answer; failed, if that was an error.
func (m *Moves) Add(name string, on Side, took time.Duration, failed bool) {
	p := m.jobs.Load()
	if p == nil {
		return
	}
	for _, j := range *p {
		if j.name == name {
			s := &j.sides[on]
			s.buckets[bucketOf(took)].Add(1)
			if failed {
				s.failed.Add(1)
			}
			return
		}
	}
}

// Outcome is how a job's statements fared, since its proxy knows of it.
type Outcome struct {
	Source Tally `json:"source"`
	Target Tally `json:"target"`
}

// Tally is how many statements failed, and how many took how long.
type Tally struct {
	Failed uint64  `json:"failed"`
	Times  []Times `json:"times,omitempty"`
}

// Times is how many statements took up to so long, and longer than those of the
// entry before.
type Times struct {
	UpToNs int64  `json:"up_to_ns"`
	Count  uint64 `json:"count"`
}

// Outcomes is how the statements of each job have fared.
func (m *Moves) Outcomes() map[string]Outcome {
	all := map[string]Outcome{}
	if p := m.jobs.Load(); p != nil {
		for _, j := range *p {
			all[j.name] = Outcome{j.sides[Source].tally(), j.sides[Target].tally()}
		}
	}
	return all
}

func (s *side) tally() Tally {
	t := Tally{Failed: s.failed.Load()}
	for i := range s.buckets {
		if n := s.buckets[i].Load(); n > 0 {
			t.Times = append(t.Times, Times{int64(upTo(i)), n})
		}
	}
	return t
}
