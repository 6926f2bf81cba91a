package meter

import (
	"fmt"
	"testing"
	"time"
)

func TestSlowDigestsAddUp(t *testing.T) {
	var s Slow
	at := time.Unix(1000, 0)
	took := func(all time.Duration, user string, failed bool) {
		s.Add(Took{
			Hash: "a1", Text: "select ?", Database: "shop", User: user, Route: "keyed", Shards: "s0", Failed: failed,
			All: all, Waited: all / 2, Held: all / 4, Rows: 3, Ended: at,
		})
	}
	took(2*time.Second, "ann", false)
	took(4*time.Second, "bob", true)
	took(time.Second, "eve", false)
	s.Add(Took{Hash: "a1", Text: "select ?", Database: "other", All: time.Second, Ended: at})
	list := s.Digests()
	if len(list) != 2 || s.Seen() != 4 {
		t.Fatalf("%d of %+v", s.Seen(), list)
	}
	want := SlowDigest{
		Hash: "a1", Text: "select ?", Database: "shop", Count: 3, Failed: 1, Rows: 9, AllMs: 7000, SlowestMs: 4000, WaitedMs: 3500, HeldMs: 1750,
		User: "bob", Route: "keyed", Shards: "s0", Last: at,
	}
	if list[0] != want {
		t.Errorf("%+v", list[0])
	}
}

// TestSlowDigestsAreBounded: of many digests, only the most expensive ones are kept.
func TestSlowDigestsAreBounded(t *testing.T) {
	var s Slow
	for i := range 10 * MostSlow {
		s.Add(Took{Hash: fmt.Sprint(i), All: time.Duration(i+1) * time.Millisecond})
	}
	if len(s.digests) != MostSlow {
		t.Fatalf("%d digests are kept", len(s.digests))
	}
	list := s.Digests()
	if len(list) != mostReported || list[0].AllMs != 10*MostSlow || list[mostReported-1].AllMs != 10*MostSlow-mostReported+1 {
		t.Errorf("%d from %v to %v ms", len(list), list[0].AllMs, list[len(list)-1].AllMs)
	}
}

// TestSlowStatementsFloodNoLog: the number of lines per second is limited, and the next line contains the number of omitted ones.
func TestSlowStatementsFloodNoLog(t *testing.T) {
	var s Slow
	at, logged, told := time.Unix(1000, 0), 0, uint64(0)
	for i := range 100_000 {
		log, skipped := s.Add(Took{Hash: "a", Ended: at.Add(time.Duration(i) * time.Millisecond)})
		if log {
			logged++
		}
		told += skipped
	}
	if logged < 1000 || logged > 1100 {
		t.Errorf("%d lines in 100 s", logged)
	}
	if s.Unlogged() != uint64(100_000-logged) || s.Unlogged()-told > 200 {
		t.Errorf("%d without a line, %d told of", s.Unlogged(), told)
	}
}
