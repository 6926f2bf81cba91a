package series

import (
	"fmt"
	"testing"
	"time"

	"locus/control/fleet"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// beats returns the beats of proxies that have run for the given time, each with a hundred statements per
// second on each shard.
func beats(proxies, shards int, since time.Duration) map[string]fleet.Beat {
	all := map[string]fleet.Beat{}
	for p := range proxies {
		b := fleet.Beat{At: noon.Add(since), Started: noon, Shards: map[string]fleet.Flow{}, Pools: map[string]fleet.Pool{}}
		for s := range shards {
			name := fmt.Sprintf("s%d", s)
			b.Shards[name] = fleet.Flow{Count: uint64(100 * since.Seconds())}
			b.Pools[name] = fleet.Pool{InUse: 1, Limit: 4, Replicas: []fleet.Replica{{LagMs: int64(10 * (s + 1))}}}
		}
		all[fmt.Sprintf("p%d", p)] = b
	}
	return all
}

func TestFiguresAreKeptByShardAndProxy(t *testing.T) {
	k := New()
	for i := range 3 {
		since := time.Duration(i) * Spans[0].Step
		k.Add(noon.Add(since), Look{Beats: beats(2, 3, since), Lags: map[string]int64{"s2": 500}, Moves: map[string]Move{"split-1": {AtTarget: float32(10 * i)}}})
		k.Add(noon.Add(since+time.Second), Look{Beats: beats(2, 3, since)}) // too soon
	}
	at, lines := k.Of(0, "")
	if len(at) != 2 || len(lines) != 4 {
		t.Fatalf("%d points of %d lines", len(at), len(lines))
	}
	if p := lines[0].Points[1]; p.PerSecond != 600 || p.InUse != 6 || p.Limit != 24 || p.LagMs != 500 {
		t.Errorf("all together: %+v", p)
	}
	if p := lines[2].Points[0]; lines[2].Shard != "s1" || p.PerSecond != 200 || p.LagMs != 20 {
		t.Errorf("%s: %+v", lines[2].Shard, p)
	}
	if m := k.Moves(0)["split-1"]; len(m) != 2 || m[1].AtTarget != 20 {
		t.Errorf("the move: %+v", m)
	}
	if _, one := k.Of(0, "p1"); len(one) != 4 || one[0].Points[0].PerSecond != 300 || one[3].Points[0].InUse != 1 {
		t.Errorf("one proxy: %+v", one)
	}
}

// A shard that comes later has no points before, and nothing grows for ever.
func TestWhatIsKeptIsBounded(t *testing.T) {
	k := New()
	longest := Spans[len(Spans)-1]
	looks := int(float64(longest.Keep) * 1.1 * float64(longest.Step/Spans[1].Step))
	for i := range looks {
		since := time.Duration(i) * Spans[1].Step
		shards := 1
		if i >= looks-50 {
			shards = 2
		}
		k.Add(noon.Add(since), Look{Beats: beats(1, shards, since)})
	}
	for i, span := range Spans {
		at, lines := k.Of(i, "")
		if len(at) > span.Keep || len(at) < span.Keep-50 {
			t.Errorf("%s: %d points", span.Name, len(at))
		}
		late := lines[len(lines)-1].Points
		if late[0] != nil || late[len(late)-1] == nil {
			t.Errorf("%s: the shard that came late: %v", span.Name, late)
		}
	}
	wide := New()
	wide.Add(noon, Look{Beats: beats(30, 30, 0)})
	moves := map[string]Move{}
	for i := range 2 * mostMoves {
		moves[fmt.Sprint(i)] = Move{}
	}
	wide.Add(noon.Add(Spans[1].Step), Look{Beats: beats(30, 30, Spans[1].Step), Moves: moves})
	if n := len(wide.rings[0].points[0].keys); n != mostKeys {
		t.Errorf("%d keys in a point", n)
	}
	if n := len(wide.Moves(0)); n != mostMoves {
		t.Errorf("%d moves in a point", n)
	}
	if _, lines := wide.Of(0, ""); len(lines) != 31 {
		t.Errorf("%d lines of the cluster", len(lines))
	}
}
