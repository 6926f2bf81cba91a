package catalog

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"locus/config/strict"
	"locus/idgen/orderid"
	"locus/idgen/segment"
	"locus/router"
	"locus/router/endpoint"
)

// Segments are the settings of the sequences of a table's IDs. Omitted settings have defaults. They may be
// changed while IDs are generated: with any settings, numbers that the counters in etcd record as granted are
// not granted again.
type Segments struct {
	// Start is the first number of every counter. A counter above it continues.
	Start uint64 `yaml:"start,omitempty"`
	// A segment has MinStep (1,000) to MaxStep (10,000,000) numbers. Within that range, it has as many as are used within Buffer, such as 10s.
	MinStep uint64 `yaml:"min_step,omitempty"`
	MaxStep uint64 `yaml:"max_step,omitempty"`
	Buffer  string `yaml:"buffer,omitempty"`
	// Sizing is measured or leaf. With leaf, a segment is twice as large as the last one if that one lasted less than 15 minutes. It is half as
	// large if that one lasted more than 30.
	Sizing string `yaml:"sizing,omitempty"`
	// Preload is the share of a segment that is used before the next one is loaded, such as 10%.
	Preload string `yaml:"preload,omitempty"`
	// Ordered keeps no numbers in memory: each INSERT requests its numbers, so the IDs of a gene rise over all processes.
	Ordered bool `yaml:"ordered,omitempty"`
	// Store grants the numbers. If it is omitted, etcd grants them.
	Store *SegmentStore `yaml:"store,omitempty,flow"`
	// Redis is a cache in front of the store, with numbers that the store granted. If it is omitted, processes get their numbers from the store.
	Redis *endpoint.Redis `yaml:"redis,omitempty,flow"`
}

// SegmentStore is the place of the counters of a table's sequences, in addition to etcd, which records each grant. One kind is set.
type SegmentStore struct {
	MySQL *ShardStore `yaml:"mysql,omitempty"`
}

// ShardStore is a table on a shard. It is created at its first use.
type ShardStore struct {
	Shard router.ShardName `yaml:"shard"`
}

// Shard returns the shard with the counters, or "" if they are in etcd.
func (s Segments) Shard() router.ShardName {
	if s.Store == nil || s.Store.MySQL == nil {
		return ""
	}
	return s.Store.MySQL.Shard
}

// Plain reports whether etcd alone grants the numbers to processes.
func (s Segments) Plain() bool { return s.Store == nil && s.Redis == nil }

// Values and limits of Segments.
const (
	leafSizing     = "leaf"
	measuredSizing = "measured"

	longestBuffer = time.Hour
	largestStep   = 1 << 32

	// redisBits is the size of the numbers that Redis counts exactly.
	redisBits = 53
)

// Options returns the settings as options of package segment.
func (s Segments) Options() segment.Options {
	o := segment.Options{MinStep: s.MinStep, MaxStep: s.MaxStep}
	o.Buffer, _ = time.ParseDuration(s.Buffer) // validate has checked it
	if s.Sizing == leafSizing {
		o.Sizing = segment.Leaf
	}
	o.Preload, _ = parsePercent(s.Preload)
	o.Ordered = s.Ordered
	return o
}

// parsePercent parses a text such as 10%, from 1% to 100%. An empty text is 0.
func parsePercent(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	digits, whole := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(digits)
	if !whole || err != nil || n < 1 || n > 100 {
		return 0, fmt.Errorf("preload %q: write a share from 1%% to 100%%, such as 10%%", text)
	}
	return n, nil
}

// CheckPace returns an error if buffer, sizing or preload can't be read.
func (s Segments) CheckPace() error {
	if s.Buffer != "" {
		if d, err := time.ParseDuration(s.Buffer); err != nil || d < time.Millisecond || d > longestBuffer {
			return fmt.Errorf("buffer %q: write a duration from 1ms to 1h, such as 10s", s.Buffer)
		}
	}
	if s.Sizing != "" && s.Sizing != leafSizing && s.Sizing != measuredSizing {
		return fmt.Errorf("sizing %q: use measured or leaf%s", s.Sizing, strict.DidYouMean(s.Sizing, []string{measuredSizing, leafSizing}))
	}
	if s.Ordered && (s.MinStep != 0 || s.MaxStep != 0 || s.Buffer != "" || s.Sizing != "" || s.Preload != "") {
		return errors.New("ordered: no number is in memory: leave min_step, max_step, buffer, sizing and preload out")
	}
	_, err := parsePercent(s.Preload)
	return err
}

func (s Segments) validate(l orderid.Layout) error {
	switch {
	case s.Store == nil:
	case s.Store.MySQL == nil:
		return errors.New("segments: store: name one, such as {mysql: {shard: s0}}, or leave `store:` out for etcd")
	case s.Store.MySQL.Shard == "":
		return errors.New("segments: store: mysql: its table is on a shard: give `shard:`, or leave `store:` out for etcd")
	}
	if err := s.CheckPace(); err != nil {
		return fmt.Errorf("segments: %w", err)
	}
	switch bits := min(l.SequenceBits(), 62); {
	case s.Start >= 1<<bits:
		return fmt.Errorf("segments: start %d: a sequence of layout %s has %d bits", s.Start, l, l.SequenceBits())
	case s.Redis != nil && s.Ordered:
		return errors.New("segments: ordered: numbers of Redis and of the store behind it are in no order over all processes: leave `redis:` out")
	case s.Redis != nil && s.Start >= 1<<redisBits:
		return fmt.Errorf("segments: start %d: Redis counts up to 2^%d: begin below, or leave `redis:` out", s.Start, redisBits)
	case s.MinStep > largestStep || s.MaxStep > largestStep:
		return fmt.Errorf("segments: min_step and max_step are at most %d", uint64(largestStep))
	case s.MaxStep > 0 && s.MinStep > s.MaxStep:
		return fmt.Errorf("segments: min_step %d is above max_step %d", s.MinStep, s.MaxStep)
	case s.MaxStep > 0 && s.MinStep == 0 && s.MaxStep < 1000:
		return fmt.Errorf("segments: max_step %d is below min_step, which is 1000 if it is left out: give it too", s.MaxStep)
	}
	return nil
}
