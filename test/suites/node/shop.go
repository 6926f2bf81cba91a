package node

import (
	"testing"

	"locus/test/suites/stand"
)

// Shop runs cases in the shop's sharded tables, through the proxy alone. There
// is nothing to compare with; the cases themselves say what must be.
func (s Script) Shop(t *testing.T, at *stand.Stand) {
	t.Helper()
	outcomes := s.In(t, at.Proxy, at.Shop.Schema, nil)
	if len(outcomes) == 0 {
		t.Errorf("%s has no cases", s.Path)
	}
	for name, o := range outcomes {
		if o.State != stand.Passed {
			t.Errorf("%s is %s: %s", name, o.State, o.Detail)
		}
	}
}
