package snapshot

import (
	"errors"
	"testing"

	"locus/proxy/sysvars"
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
		var told sysvars.Diagnostics
		var r *plan.Refusal
		err := (&Account{LargeOffset: c.guard}).MaySkip(c.rows, &told)
		if errors.As(err, &r) != c.refused || c.refused && r.Code != plan.OffsetRefused || len(told.Conditions) != c.warned {
			t.Errorf("%+v: %v, %d warnings", c, err, len(told.Conditions))
		}
	}
}

func TestLargeGather(t *testing.T) {
	for _, c := range []struct {
		account Account
		rows    int64 // gathered
		most    int64
		warned  int
	}{
		{Account{}, 11, gatherRows, 0},
		{Account{GatherRows: 10, LargeGather: Refuse}, 10, 10, 0},
		{Account{GatherRows: 10, LargeGather: Warn}, 10, gatherRows, 0},
		{Account{GatherRows: 10, LargeGather: Warn}, 11, gatherRows, 1},
		{Account{GatherRows: 10, LargeGather: Allow}, 11, gatherRows, 0},
		{Account{GatherRows: 2 * gatherRows, LargeGather: Warn}, gatherRows + 1, 2 * gatherRows, 0},
	} {
		var told sysvars.Diagnostics
		most, _ := c.account.GatherLimits()
		c.account.Gathered(c.rows, 0, &told)
		if most.Rows != c.most || len(told.Conditions) != c.warned {
			t.Errorf("%+v: at most %d rows, %d warnings of %d", c.account, most.Rows, len(told.Conditions), c.rows)
		}
	}
}
