package failover

import (
	"testing"
	"time"

	"locus/control/switchover"
	"locus/router/cluster"
)

// Commits that wait for replicas are reported once several polls have found them, with the time at which the
// wait began. The report ends when a replica answers.
func TestWritesThatWaitAreTold(t *testing.T) {
	enough := switchover.SemiSync{Waits: true, AfterSync: true, Patience: 1000 * time.Hour, Alone: true, Copies: 1, InForce: true, Replicas: 1}
	none, stuck, off := enough, enough, enough
	none.Replicas = 0
	stuck.Waiting = 3
	off.Waits, off.Replicas = false, 0
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		own switchover.SemiSync
		had string
		err error
		is  bool
	}{
		"enough":                       {own: enough},
		"none is there":                {own: none, is: true},
		"they don't answer":            {own: stuck, had: "0-1-7", is: true},
		"they answer":                  {own: stuck, had: "0-1-6"},
		"it waits for nobody":          {own: off},
		"the primary itself is unseen": {own: none, err: errTest},
	} {
		w, primary := &State{}, switchover.Sight{View: switchover.View{Has: "0-1-7", SemiSync: c.own}, Err: c.err}
		w.has = c.had
		for i := range lasting {
			if !w.Record.Waits.IsZero() {
				t.Errorf("%s: told after %d looks", name, i)
			}
			w.waits(began.Add(time.Duration(i)*time.Second), primary)
		}
		if got := w.Record.Waits; got.IsZero() == c.is || c.is && !got.Equal(began) {
			t.Errorf("%s: %v", name, got)
		}
		w.waits(began.Add(time.Minute), switchover.Sight{View: switchover.View{SemiSync: enough}})
		if !w.Record.Waits.IsZero() {
			t.Errorf("%s: it is told for ever", name)
		}
	}
}

// A primary runs without replicas as long as the document says so. That ends when replicas have everything that
// it has.
func TestAloneEndsWithReplicas(t *testing.T) {
	primary := switchover.Sight{View: switchover.View{Addr: "a", Identity: "id-a", Has: origin + ":1-10", SemiSync: switchover.SemiSync{Copies: 1, Acknowledges: true}}}
	follows := replica("b", "8", "10")
	follows.Stopped, follows.SemiSync.Acknowledges = "", true
	late, silent, stopped := follows, follows, replica("b", "10", "10")
	late.Received = origin + ":1-9"
	silent.SemiSync.Acknowledges = false
	stopped.SemiSync.Acknowledges = true
	alone := cluster.Primary{Server: "a", Alone: true}
	if untidy(alone, []switchover.Sight{primary, follows}, nil) {
		t.Error("what was ordered is taken for untidy")
	}
	if !untidy(cluster.Primary{Server: "a"}, []switchover.Sight{primary, follows}, nil) {
		t.Error("a primary that waits for nobody without an order is taken for tidy")
	}
	for name, c := range map[string]struct {
		one  switchover.Sight
		want bool
	}{"follows": {follows, true}, "late": {late, false}, "does not acknowledge": {silent, false}, "stopped": {stopped, false}, "away": {off("b"), false}} {
		s := &State{}
		for range lasting - 1 {
			if s.accompanied(alone, []switchover.Sight{primary, c.one}) {
				t.Errorf("%s: at once", name)
			}
		}
		if got := s.accompanied(alone, []switchover.Sight{primary, c.one}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if (&State{alone: lasting}).accompanied(cluster.Primary{Server: "a"}, []switchover.Sight{primary, follows}) {
		t.Error("without an order")
	}
}

var errTest = off("a").Err
