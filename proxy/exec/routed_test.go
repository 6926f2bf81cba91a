package exec

import (
	"bytes"
	"testing"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/plan"
)

// TestRouted: while genes are moving, the target's text excludes their rows.
func TestRouted(t *testing.T) {
	s := newStand(t)
	a := s.request("SELECT id FROM orders")
	p := a.Plan.(*plan.Read)
	var route plan.Route
	routed := func(k *plan.Keyed) ([]Part, error) {
		if err := p.Locate(a.Snapshot.Map, a.Values, &route); err != nil {
			t.Fatal(err)
		}
		return routedParts(a.Snapshot.Map, a.Values, &route, k, a.Values.Text, nil, nil)
	}
	got, err := routed(&p.Keyed)
	if err != nil || len(got) != 2 || &got[0].Text[0] != &a.Values.Text[0] || &got[1].Text[0] != &a.Values.Text[0] {
		t.Errorf("%+v, %v", got, err)
	}
	if a.Snapshot.Map, err = a.Snapshot.Map.Step([]router.Move{{Job: "1", Genes: gene.NewSet(gene.Range{First: 0, Last: 0xfff}), From: "s0", To: "s1"}}); err != nil {
		t.Fatal(err)
	}
	got, err = routed(&p.Keyed)
	if err != nil || !bytes.Equal(got[0].Text, a.Values.Text) || !bytes.HasPrefix(got[1].Text, []byte("SELECT id FROM orders WHERE")) {
		t.Errorf("%s and %s, %v", got[0].Text, got[1].Text, err)
	}
	if _, err := routed(&plan.Keyed{}); err == nil {
		t.Error("rows of other shards are excluded from a statement that has no place for the condition")
	}
}
