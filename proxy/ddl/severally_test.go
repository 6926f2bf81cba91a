package ddl

import (
	"errors"
	"strings"
	"testing"

	"locus/internal/test/fakeshard"
	"locus/router"
)

const indexes = "ALTER TABLE orders ADD KEY (amount)"

// Each shard runs the statement when no other session has the table locked there.
func TestAlterSeverally(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		on   map[router.ShardName][]fakeshard.Reply
		want [3]string
	}{
		"free":        {nil, [3]string{"?A", "?A", "?A"}},
		"held":        {map[router.ShardName][]fakeshard.Reply{"s1": {busyAlter}}, [3]string{"?A", "?AA", "?A"}},
		"large":       {map[router.ShardName][]fakeshard.Reply{"s0": {large()}}, [3]string{"?LUA", "LUA", "LUA"}},
		"large, held": {map[router.ShardName][]fakeshard.Reply{"s0": {large(), busyLock}}, [3]string{"?LLUA", "LUA", "LUA"}},
		"no right":    {map[router.ShardName][]fakeshard.Reply{"s0": {large(), {Prefix: "LOCK", Code: 1142}}}, [3]string{"?LA", "LUA", "LUA"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			a := s.changing(indexes)
			for shard, replies := range c.on {
				s.shards[shard].Next(replies...)
			}
			if err := a.inTurn(a.alter); err != nil || a.told == nil || len(a.told.Done) != 3 || a.plain() != "" {
				t.Errorf("%v, told %+v, %q", err, a.told, a.plain())
			}
			for i, shard := range a.catalog.Shards {
				if got := a.heard(shard); got != c.want[i] {
					t.Errorf("%s was sent %q, want %q", shard, got, c.want[i])
				}
			}
		})
	}
}

// The error names the shards where the statement was done.
func TestAlterSeverallyFails(t *testing.T) {
	t.Parallel()
	repeat := ": repeat the statement, which skips the shards where it was done"
	moving := errors.New("moving")
	for name, c := range map[string]struct {
		on     map[router.ShardName][]fakeshard.Reply
		may    []error
		want   string // in the error
		before string
		after  string
		done   int
	}{
		"held": {
			map[router.ShardName][]fakeshard.Reply{"s1": always(busyAlter)},
			nil,
			"1205", "on shard s1: ", held + "; it was done on s0, s2" + repeat, 2,
		},
		"refused": {
			map[router.ShardName][]fakeshard.Reply{"s0": always(busyAlter), "s1": {{Prefix: "ALTER", Code: 1062}}},
			nil,
			"1062", "on shard s1: ", "; it was done on s2: fix the cause and repeat the statement, which skips the shards where it was done", 1,
		},
		"a move begins": {
			map[router.ShardName][]fakeshard.Reply{"s1": {busyAlter}},
			[]error{moving},
			"moving", "", "; it was done on s0, s2" + repeat, 2,
		},
		"lost": {
			map[router.ShardName][]fakeshard.Reply{"s0": {{Prefix: "ALTER", Code: 1062}}, "s1": {{Prefix: "ALTER", Code: 1062}}, "s2": {{Prefix: "ALTER", Cut: fakeshard.Within}}},
			nil,
			"lost", "", "; it was done on no other shard, and whether on s2 is not known" + repeat, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			a := s.changing(indexes)
			if c.may == nil { // otherwise a second might pass before the move begins
				a.Settings = a.Settings.With(lockWaitTimeout, oneSecond)
			}
			a.mays = c.may
			for shard, replies := range c.on {
				s.shards[shard].Next(replies...)
			}
			err := a.inTurn(a.alter)
			e, is := err.(*Error) //nolint:errorlint // it is never wrapped
			if !is || e.Before != c.before || e.After != c.after || !strings.Contains(e.Err.Error(), c.want) || a.told == nil || len(a.told.Done) != c.done {
				t.Errorf("%v, told %+v", err, a.told)
			}
		})
	}
}
