package snapshot

import (
	"errors"
	"fmt"
	"testing"

	"locus/proxy/sysvars"
	"locus/router/catalog"
	"locus/router/plan"
)

// guarded returns the effect of a guard on a statement: it runs, it runs with a warning, or it is refused with a code.
func guarded(ask func(told *sysvars.Diagnostics) error) string {
	var told sysvars.Diagnostics
	err := ask(&told)
	refusal, refused := errors.AsType[*plan.Refusal](err)
	switch {
	case refused && len(told.Conditions) == 0:
		return refusal.Code.String()
	case err != nil:
		return fmt.Sprintf("%v, %d warnings", err, len(told.Conditions))
	case len(told.Conditions) > 0:
		return fmt.Sprintf("%d warnings", len(told.Conditions))
	}
	return "runs"
}

// TestGuards: a guard that refuses its statements has no effect on other statements.
func TestGuards(t *testing.T) {
	unfiltered, filtered := &plan.Facts{Unfiltered: true}, &plan.Facts{}
	statements := map[string]func(*Account, *sysvars.Diagnostics) error{
		"scatter":       func(a *Account, told *sysvars.Diagnostics) error { return a.MayScatter(3, told) },
		"scatter write": func(a *Account, told *sysvars.Diagnostics) error { return a.MayScatterWrite(3, told) },
		"unfiltered":    func(a *Account, told *sysvars.Diagnostics) error { return a.MayRunUnfiltered(unfiltered, told) },
		"filtered":      func(a *Account, told *sysvars.Diagnostics) error { return a.MayRunUnfiltered(filtered, told) },
		"large offset":  func(a *Account, told *sysvars.Diagnostics) error { return a.MaySkip(largeOffset+1, told) },
	}
	for _, c := range []struct {
		name  string
		of    func(Guard) *Account
		about string
		code  plan.Code
	}{
		{"Scatter", func(g Guard) *Account { return &Account{Scatter: g} }, "scatter", plan.ScatterRefused},
		{"ScatterWrites", func(g Guard) *Account { return &Account{ScatterWrites: g} }, "scatter write", plan.ScatterWrite},
		{"Unfiltered", func(g Guard) *Account { return &Account{Unfiltered: g} }, "unfiltered", plan.UnfilteredRefused},
		{"LargeOffset", func(g Guard) *Account { return &Account{LargeOffset: g} }, "large offset", plan.OffsetRefused},
		{"LargeGather", func(g Guard) *Account { return &Account{LargeGather: g} }, "", 0},
	} {
		for g, about := range map[Guard]string{Allow: "runs", Warn: "1 warnings", Refuse: c.code.String()} {
			for name, ask := range statements {
				want := "runs"
				if name == c.about {
					want = about
				}
				if got := guarded(func(told *sysvars.Diagnostics) error { return ask(c.of(g), told) }); got != want {
					t.Errorf("%s %d: %s: %s, want %s", c.name, g, name, got, want)
				}
			}
		}
	}
}

// TestGatherLimits: the user's own bounds lower the limits only if exceeding them is refused.
func TestGatherLimits(t *testing.T) {
	for _, c := range []struct {
		account                  Account
		mostRows, mostBytes      int64
		boundsRows, boundsBytes  int64
		warnsAtRows, warnsAtByte bool
	}{
		{Account{}, gatherRows, gatherBytes, gatherRows, gatherBytes, false, false},
		{Account{GatherRows: 5, GatherBytes: 7, LargeGather: Refuse}, 5, 7, 5, 7, false, false},
		{Account{GatherRows: 5, GatherBytes: 7, LargeGather: Warn}, gatherRows, gatherBytes, 5, 7, true, true},
		{Account{GatherRows: 5, LargeGather: Warn}, gatherRows, gatherBytes, 5, gatherBytes, true, false},
		{Account{GatherBytes: 2 * gatherBytes, LargeGather: Allow}, gatherRows, 2 * gatherBytes, gatherRows, 2 * gatherBytes, false, false},
	} {
		most, bounds := c.account.GatherLimits()
		if most.Rows != c.mostRows || most.Bytes != c.mostBytes || bounds.Rows != c.boundsRows || bounds.Bytes != c.boundsBytes {
			t.Errorf("%+v: at most %+v, bounds %+v", c.account, most, bounds)
		}
		for _, gathered := range []struct {
			rows, bytes int64
			warns       bool
		}{{6, 0, c.warnsAtRows}, {0, 8, c.warnsAtByte}, {5, 7, false}} {
			var told sysvars.Diagnostics
			c.account.Gathered(gathered.rows, gathered.bytes, &told)
			if warned := len(told.Conditions) == 1; warned != gathered.warns {
				t.Errorf("%+v: %d rows of %d bytes: warned: %t", c.account, gathered.rows, gathered.bytes, warned)
			}
		}
	}
}

// TestAccounts: a user that is not declared has no rights if any user is declared. If none is, every user may do everything but
// change rows on several shards.
func TestAccounts(t *testing.T) {
	own := &Account{Admin: true}
	declared := &Snapshot{Accounts: map[string]*Account{"known": own}}
	if declared.Account("known") != own {
		t.Error("a declared user has another account")
	}
	stranger := declared.Account("stranger")
	if stranger.Admin || !stranger.Rights.ReadOnly || stranger.Scatter != Refuse || stranger.ScatterWrites != Refuse {
		t.Errorf("a user who is not declared: %+v", stranger)
	}
	if err := stranger.Rights.Database("shop"); err == nil {
		t.Error("a user who is not declared may use a database")
	}
	if err := stranger.Rights.Table(catalog.TableName{Schema: "shop", Name: "orders"}); err == nil {
		t.Error("a user who is not declared may read a table")
	}
	anybody := new(Snapshot).Account("anybody")
	if anybody.Rights != nil || anybody.Scatter != Allow || anybody.ScatterWrites != Refuse || anybody.Admin {
		t.Errorf("where nobody is declared: %+v", anybody)
	}
}
