package console

import (
	"encoding/json"
	"net/http"
	"testing"

	"locus/migrate/job"
)

// TestDifferingRowsAreNextToEachOther, with the owner's side and the newer one.
func TestDifferingRowsAreNextToEachOther(t *testing.T) {
	c := newConsole(reported(t))
	a := get[differencesAnswer](t, c, "/v1/moves/split-1/differences")
	if a.Source != "s0" || a.Target != "s2" || len(a.Rows) != 2 || a.Beyond != 5 {
		t.Fatalf("%+v", a)
	}
	if r := a.Rows[0]; r.Source != "7, 90" || r.Target != "7, 80" || r.Newer != job.AtSource || r.Key != "(7)" || r.Columns[0] != "amount" {
		t.Errorf("%+v", r)
	}
	if r := a.Rows[1]; r.Target != "" || r.Newer != "" || r.Columns == nil {
		t.Errorf("%+v", r)
	}
	if a.Hidden {
		t.Error("the values are hidden from an admin")
	}
	server := serve(t, reported(t))
	var seen differencesAnswer
	if err := json.NewDecoder(ask(t, server, "/v1/moves/split-1/differences", "vera", "look").Body).Decode(&seen); err != nil {
		t.Fatal(err)
	}
	if !seen.Hidden || len(seen.Rows) != 2 || seen.Rows[0].Source != hiddenRow || seen.Rows[0].Target != hiddenRow || seen.Rows[1].Target != "" || seen.Rows[0].Columns[0] != "amount" {
		t.Errorf("a viewer sees %+v", seen)
	}
	if w := reply(c, http.MethodGet, "/v1/moves/split-7/differences", ""); w.Code != http.StatusNotFound {
		t.Errorf("of no job: %d", w.Code)
	}
}

// TestTheNextRequestIsMarked: exactly one request is the next one, as the command line names it.
func TestTheNextRequestIsMarked(t *testing.T) {
	for _, test := range []struct {
		job  *job.Job
		next string
	}{{failedJob(t, "split-1"), "resume"}, {plannedJob(t, "split-1"), ""}} {
		var marked []string
		for _, o := range ordersFor(test.job) {
			if o.Next {
				marked = append(marked, o.Procedure)
			}
		}
		if test.next == "" && len(marked) > 0 || test.next != "" && (len(marked) != 1 || marked[0] != test.next) {
			t.Errorf("%s: %v are next", test.job.State.Shown(), marked)
		}
	}
}

// TestAPrimaryIsTakenAndAProxyDrained by an admin.
func TestAPrimaryIsTakenAndAProxyDrained(t *testing.T) {
	c := newConsole(&fakeCluster{})
	if a := do[switchedOver](t, c, http.MethodPost, "/v1/calls/promote", `{"shard": "s0", "server": "db:1"}`); a.Primary != "db:1" {
		t.Errorf("%+v", a)
	}
	if a := do[draining](t, c, http.MethodPost, "/v1/calls/drain", `{"process": "p-1"}`); a.Process != "p-1" || a.Left != 1 {
		t.Errorf("%+v", a)
	}
	if a := do[draining](t, c, http.MethodPost, "/v1/calls/evict", `{"process": "p-1"}`); a.Process != "p-1" || a.Left != 0 {
		t.Errorf("%+v", a)
	}
	if a := do[filledShard](t, c, http.MethodPost, "/v1/calls/shard_fill", `{"shard": "s2"}`); a.Shard != "s2" || a.Written != 7 || a.Deleted != 1 {
		t.Errorf("%+v", a)
	}
}
