package cluster

import (
	"testing"
	"time"

	"locus/idgen/segment"
)

// What a declaration says of numbers in memory reaches the packages that keep them.
func TestPaceOfGenerators(t *testing.T) {
	g := Generator{Kind: QueueGenerator, Bits: 3, Buffer: "20ms", Preload: "25%", MaxStep: 9}
	if q := g.Queue(); q.Bits != 3 || q.Ahead != 20*time.Millisecond || q.Preload != 25 || q.Most != 9 {
		t.Errorf("a queue has %+v", q)
	}
	g = Generator{Kind: SegmentGenerator, MinStep: 5, MaxStep: 9, Buffer: "2s", Preload: "100%", Sizing: "leaf"}
	if s := g.Segments(); s.MinStep != 5 || s.MaxStep != 9 || s.Buffer != 2*time.Second || s.Preload != 100 || s.Sizing != segment.Leaf {
		t.Errorf("segments have %+v", s)
	}
}
