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

// Sides of a move.
const (
	Source Side = iota
	Target
)

// Moves counts the outcomes of statements that concern one moving gene, by job and by the shard that ran them. The zero
// value follows no job. It is safe for concurrent use.
type Moves struct {
	mu   sync.Mutex // held by Follow
	jobs atomic.Pointer[[]*job]
}

type job struct {
	name  string
	sides [2]side
}

// side contains the outcomes on one shard.
type side struct {
	failed  atomic.Uint64
	buckets [buckets]atomic.Uint64
}

// A bucket of times covers an eighth of an octave above 2^10 ns. The last one contains everything above a minute.
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

// upTo returns the upper bound of a bucket.
func upTo(bucket int) time.Duration {
	octave, within := bucket/perOctave, bucket%perOctave
	return time.Duration((perOctave + uint64(within) + 1) << (octave + lowest - 3))
}

// Follow counts the jobs of the given moves and forgets all others.
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

// Add counts a statement. took is the time from the admission of the statement to the end of its answer. failed reports that the
// answer was an error.
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

// Outcome contains the outcomes of a job's statements since the proxy learned of the job.
type Outcome struct {
	Source Tally `json:"source"`
	Target Tally `json:"target"`
}

// Tally counts failed statements and the times of statements.
type Tally struct {
	Failed uint64  `json:"failed"`
	Times  []Times `json:"times,omitempty"`
}

// Times is one bucket: the number of statements that took up to UpToNs, and longer than the previous entry.
type Times struct {
	UpToNs int64  `json:"up_to_ns"`
	Count  uint64 `json:"count"`
}

// Outcomes returns the outcomes of each job's statements.
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
