package exec

import (
	"errors"
	"strings"
	"testing"

	"locus/internal/test/fakeshard"
	"locus/proxy/snapshot"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
)

// scattered runs a read on both shards that have genes.
func (s *stand) scattered(text string) (got string, unmerged bool, err error) {
	s.t.Helper()
	w := s.execution(text)
	w.Partial, s.Execution = s.partial, w
	p, route := w.Plan.(*plan.Read), new(plan.Route)
	if err := p.Route(w.Snapshot.Map, w.Values, route); err != nil || len(route.Shards) != 2 {
		s.t.Fatalf("%v, shards %v", err, route.Shards)
	}
	got, err = s.told(func() (err error) {
		unmerged, err = w.scatter(p, route)
		return err
	})
	return got, unmerged, err
}

// sorted returns an answer with the hidden column by which it is merged.
func sorted(values ...string) fakeshard.Reply {
	r := fakeshard.Reply{Prefix: "SELECT", Columns: []wire.Column{fakeshard.Number("id"), fakeshard.Number("locus_hidden_0")}}
	for _, v := range values {
		r.Rows = append(r.Rows, []string{v, v})
	}
	return r
}

// TestScatter: the client gets the merged rows. Rows that OFFSET skips are counted as found.
func TestScatter(t *testing.T) {
	s := newStand(t)
	s.shards["s0"].Next(sorted("1", "3"))
	s.shards["s1"].Next(sorted("2"))
	got, unmerged, err := s.scattered("SELECT id FROM orders ORDER BY id LIMIT 2 OFFSET 1")
	first, second := strings.Index(got, "\x012"), strings.Index(got, "\x013")
	if err != nil || unmerged || first < 0 || second < first || strings.Contains(got, "\x011") || s.Vars.FoundRows != 3 || s.Vars.RowCount != -1 {
		t.Errorf("%q, %v, unmerged %t, %d found, %d changed", got, err, unmerged, s.Vars.FoundRows, s.Vars.RowCount)
	}
	all := "SELECT id , `orders`.`id` AS `locus_hidden_0` FROM orders ORDER BY id LIMIT 3 OFFSET 0"
	s.log.Sent(map[router.ShardName]string{"s0": all, "s1": all})
}

// TestScatterFails: a lost read is repeated, and an error of a shard is returned. Rows may be gathered if their answers can't be
// merged, but not after another refusal.
func TestScatterFails(t *testing.T) {
	s := newStand(t)
	s.shards["s1"].Next(fakeshard.Reply{Prefix: "SELECT", Cut: fakeshard.Before})
	s.shards["s0"].Next(sorted("1"), sorted("1"))
	s.shards["s1"].Next(sorted("2"))
	if got, _, err := s.scattered("SELECT id FROM orders ORDER BY id"); err != nil || !strings.Contains(got, "\x012") || s.Tally.Retried.Load() != 1 {
		t.Errorf("%q, %v, %d times again", got, err, s.Tally.Retried.Load())
	}
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "SELECT", Code: 1146})
	s.shards["s1"].Next(sorted("2"))
	if _, unmerged, err := s.scattered("SELECT id FROM orders ORDER BY id"); !refused(err, 1146) || unmerged {
		t.Errorf("%v, unmerged %t", err, unmerged)
	}
	s.shards["s0"].Next(sorted("1"))
	s.shards["s1"].Next(rows("1"))
	if _, unmerged, err := s.scattered("SELECT id FROM orders ORDER BY id"); err == nil || !unmerged {
		t.Errorf("%v, unmerged %t", err, unmerged)
	}
	s.Account = &snapshot.Account{LargeOffset: snapshot.Refuse}
	_, unmerged, err := s.scattered("SELECT id FROM orders ORDER BY id LIMIT 1 OFFSET 99999999")
	if refusal, is := errors.AsType[*plan.Refusal](err); !is || refusal.Code != plan.OffsetRefused || unmerged {
		t.Errorf("%v, unmerged %t", err, unmerged)
	}
}

// TestScatterPartially: shards that are down are omitted if the session accepts that.
func TestScatterPartially(t *testing.T) {
	s := newStand(t)
	s.partial = true
	s.unsent["s0"] = &lostBefore
	s.shards["s1"].Next(sorted("2"))
	if got, _, err := s.scattered("SELECT id FROM orders ORDER BY id"); err != nil || !strings.Contains(got, "\x012") || len(s.Execution.Absent) != 1 || len(s.Vars.Conditions) != 1 {
		t.Errorf("%q, %v, without %v, warnings %v", got, err, s.Execution.Absent, s.Vars.Conditions)
	}
}

// TestAnswer: the host's answer over the gathered rows is relayed like any shard's answer.
func TestAnswer(t *testing.T) {
	s := newStand(t)
	a := s.request(across)
	for range 2 {
		s.filled()
		s.shards["s2"].Next(fakeshard.Reply{Prefix: "SELECT a.amount", Columns: numbers, Rows: [][]string{{"7"}}, Warnings: 1})
		got, err := s.told(func() error { return a.gatherAt(a.of(), "s2", plenty, (*gathering).answer) })
		if err != nil || !strings.Contains(got, "\x017") || s.Vars.FoundRows != 1 || len(s.log.WarnedBy()) == 0 {
			t.Errorf("%q, %v, %d found, warned by %v", got, err, s.Vars.FoundRows, s.log.WarnedBy())
		}
	}
	s.filled()
	s.shards["s2"].Next(fakeshard.Reply{Prefix: "SELECT a.amount", Cut: fakeshard.Amid, Columns: numbers, Rows: [][]string{{"7"}}})
	if _, err := s.told(func() error { return a.gatherAt(a.of(), "s2", plenty, (*gathering).answer) }); err == nil {
		t.Error("an answer that was cut off has no error")
	}
}
