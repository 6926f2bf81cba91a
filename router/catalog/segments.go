package catalog

import (
	"errors"
	"fmt"
	"time"

	"locus/config/strict"
	"locus/idgen/orderid"
	"locus/idgen/segment"
	"locus/router"
	"locus/router/endpoint"
)

// Segments are the settings of the sequences of a table's IDs; what is left out has a default. They may be changed while IDs are made:
// whatever they are, no number is granted that the counters in etcd know to be granted.
type Segments struct {
	// Start is the first number of every counter; one that is above goes on.
	Start uint64 `yaml:"start,omitempty"`
	// A segment has MinStep (1,000) to MaxStep (10,000,000) numbers, between them as many as are taken in Buffer, such as 10s.
	MinStep uint64 `yaml:"min_step,omitempty"`
	MaxStep uint64 `yaml:"max_step,omitempty"`
	Buffer  string `yaml:"buffer,omitempty"`
	// Sizing is measured, or leaf: twice as many if the last one did not last for 15 minutes, half as many if for more than 30.
	Sizing string `yaml:"sizing,omitempty"`
	// Store grants the numbers; left out, etcd does.
	Store *SegmentStore `yaml:"store,omitempty,flow"`
	// Redis stands in front of the store, and has numbers that it granted; left out, processes take theirs from the store.
	Redis *endpoint.Redis `yaml:"redis,omitempty,flow"`
}

// SegmentStore is where the counters of a table's sequences are beside etcd, which witnesses each grant. One is named.
type SegmentStore struct {
	MySQL *ShardStore `yaml:"mysql,omitempty"`
}

// ShardStore is a table on a shard, which is made when it is first used.
type ShardStore struct {
	Shard router.ShardName `yaml:"shard"`
}

// Shard is the one with the counters; empty if they are in etcd.
func (s Segments) Shard() router.ShardName {
	if s.Store == nil || s.Store.MySQL == nil {
		return ""
	}
	return s.Store.MySQL.Shard
}

// Plain reports whether etcd grants the numbers to processes, and nobody else is asked.
func (s Segments) Plain() bool { return s.Store == nil && s.Redis == nil }

// What Segments can be.
const (
	leafSizing     = "leaf"
	measuredSizing = "measured"

	longestBuffer = time.Hour
	largestStep   = 1 << 32

	// redisBits are those of the numbers that Redis counts exactly.
	redisBits = 53
)

// Options are the settings as package segment has them.
func (s Segments) Options() segment.Options {
	o := segment.Options{MinStep: s.MinStep, MaxStep: s.MaxStep}
	o.Buffer, _ = time.ParseDuration(s.Buffer) // validate has looked
	if s.Sizing == leafSizing {
		o.Sizing = segment.Leaf
	}
	return o
}

func (s Segments) validate(l orderid.Layout) error {
	switch {
	case s.Store == nil:
	case s.Store.MySQL == nil:
		return errors.New("segments: store: name one, such as {mysql: {shard: s0}}, or leave `store:` out for etcd")
	case s.Store.MySQL.Shard == "":
		return errors.New("segments: store: mysql: its table is on a shard: give `shard:`, or leave `store:` out for etcd")
	}
	if s.Buffer != "" {
		if d, err := time.ParseDuration(s.Buffer); err != nil || d < time.Millisecond || d > longestBuffer {
			return fmt.Errorf("segments: buffer %q: write a duration from 1ms to 1h, such as 10s", s.Buffer)
		}
	}
	switch bits := min(l.SequenceBits(), 62); {
	case s.Start >= 1<<bits:
		return fmt.Errorf("segments: start %d: a sequence of layout %s has %d bits", s.Start, l, l.SequenceBits())
	case s.Redis != nil && s.Start >= 1<<redisBits:
		return fmt.Errorf("segments: start %d: Redis counts up to 2^%d: begin below, or leave `redis:` out", s.Start, redisBits)
	case s.MinStep > largestStep || s.MaxStep > largestStep:
		return fmt.Errorf("segments: min_step and max_step are at most %d", uint64(largestStep))
	case s.MaxStep > 0 && s.MinStep > s.MaxStep:
		return fmt.Errorf("segments: min_step %d is above max_step %d", s.MinStep, s.MaxStep)
	case s.MaxStep > 0 && s.MinStep == 0 && s.MaxStep < 1000:
		return fmt.Errorf("segments: max_step %d is below min_step, which is 1000 if it is left out: give it too", s.MaxStep)
	case s.Sizing != "" && s.Sizing != leafSizing && s.Sizing != measuredSizing:
		return fmt.Errorf("segments: sizing %q: use measured or leaf%s", s.Sizing, strict.DidYouMean(string(s.Sizing), []string{"measured", "leaf"}))
	}
	return nil
}
