package session

import (
	"errors"
	"testing"

	"locus/router/plan"
)

func TestLargeOffset(t *testing.T) {
	for _, c := range []struct {
		guard   Guard
		rows    uint64
		refused bool
		warned  int
	}{
		{Allow, 1 << 40, false, 0},
		{Warn, largeOffset, false, 0},
		{Warn, largeOffset + 1, false, 1},
		{Refuse, largeOffset, false, 0},
		{Refuse, largeOffset + 1, true, 0},
	} {
		s := &Session{account: &Account{LargeOffset: c.guard}}
		var r *plan.Refusal
		err := s.maySkip(c.rows)
		if errors.As(err, &r) != c.refused || c.refused && r.Code != plan.OffsetRefused || len(s.warnings) != c.warned {
			t.Errorf("%+v: %v, %d warnings", c, err, len(s.warnings))
		}
	}
}
