package ddl

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/fakeshard"
	"locus/router"
)

const (
	changes = "ALTER TABLE orders MODIFY amount INT"
	locks   = "LOCK TABLES `shop`.`orders` WRITE"
	// oneSecond is the session's limit for a lock wait in tests that wait until it has expired.
	oneSecond = "1"
)

// Replies of shards.
var (
	busyLock  = fakeshard.Reply{Prefix: "LOCK", Code: mysql.ER_LOCK_WAIT_TIMEOUT}
	freeLock  = fakeshard.Reply{Prefix: "LOCK"}
	busyAlter = fakeshard.Reply{Prefix: "ALTER", Code: mysql.ER_LOCK_WAIT_TIMEOUT}
)

func (s *stand) changing(text string) *trial {
	a := s.request(text)
	s.shards["s0"].Next(locked("1"))
	return a
}

// heard returns what a shard received, a letter for each statement: L and U for LOCK and UNLOCK, A for the
// text, I for the text with ALGORITHM=INSTANT, "?" for the query for the size.
func (a *trial) heard(shard router.ShardName) string {
	var out strings.Builder
	for _, sql := range a.log.Statements(shard) {
		switch {
		case sql == locks:
			out.WriteByte('L')
		case sql == "UNLOCK TABLES":
			out.WriteByte('U')
		case sql == string(a.Values.Text):
			out.WriteByte('A')
		case strings.HasPrefix(sql, "ALTER TABLE orders ALGORITHM=INSTANT, "):
			out.WriteByte('I')
		case strings.HasPrefix(sql, "SELECT SUM("):
			out.WriteByte('?')
		}
	}
	return out.String()
}

// always makes the shard give the reply every time.
func always(r fakeshard.Reply) []fakeshard.Reply {
	r.Always = true
	return []fakeshard.Reply{r}
}

// large is the reply of a shard whose table is large.
func large() fakeshard.Reply {
	r := fakeshard.Reply{Prefix: "SELECT SUM(", Rows: [][]string{{"99999999999"}}}
	r.Columns = append(r.Columns, fakeshard.Number("n"))
	return r
}

// The table is locked on all shards before any shard runs the ALTER. While another session holds it on one
// shard, it is locked on no other.
func TestAlterLocked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		on    map[router.ShardName][]fakeshard.Reply
		want  [3]string
		plain string
	}{
		"free":      {changes, nil, [3]string{"?LULAU", "?LULAU", "?LULAU"}, ""},
		"truncated": {"TRUNCATE TABLE orders", nil, [3]string{"LULAU", "LULAU", "LULAU"}, ""},
		"held":      {changes, map[router.ShardName][]fakeshard.Reply{"s1": {busyLock}}, [3]string{"?LULULAU", "?LLULAU", "?LULAU"}, ""},
		"held again": {
			changes,
			map[router.ShardName][]fakeshard.Reply{"s1": {freeLock, busyLock}},
			[3]string{"?LULULULAU", "?LULLULAU", "?LULULULAU"},
			"",
		},
		"its definition is read": {
			changes,
			map[router.ShardName][]fakeshard.Reply{"s1": {busyAlter}},
			[3]string{"?LULAU", "?LULAAU", "?LULAU"},
			"",
		},
		"its definition is read everywhere": {
			changes,
			map[router.ShardName][]fakeshard.Reply{"s0": {busyAlter}, "s1": {busyAlter}, "s2": {busyAlter}},
			[3]string{"?LULAULULAU", "?LULAULULAU", "?LULAULULAU"},
			"",
		},
		"another table is needed": {
			changes,
			map[router.ShardName][]fakeshard.Reply{"s0": {{Prefix: "ALTER", Code: 1100}}, "s1": {{Prefix: "ALTER", Code: 1100}}, "s2": {{Prefix: "ALTER", Code: 1100}}},
			[3]string{"?LULAUA", "?LULAUA", "?LULAUA"},
			unlocked,
		},
		"large":   {changes, map[router.ShardName][]fakeshard.Reply{"s1": {large()}}, [3]string{"?LULIU", "?LULIU", "LULIU"}, ""},
		"rewrite": {changes, map[router.ShardName][]fakeshard.Reply{"s0": {large(), {Prefix: "ALTER", Code: 1846}}}, [3]string{"?LULIUA", "LULIU", "LULIU"}, rewrites},
		"large, by the client's way": {
			changes + ", ALGORITHM=COPY",
			map[router.ShardName][]fakeshard.Reply{"s0": {large()}},
			[3]string{"?A", "A", "A"},
			rewrites,
		},
		"large, instantly": {changes + ", ALGORITHM=INSTANT", nil, [3]string{"LULAU", "LULAU", "LULAU"}, ""},
		"no right": {
			changes,
			map[router.ShardName][]fakeshard.Reply{"s0": {{Prefix: "LOCK", Code: 1142}}},
			[3]string{"?LA", "?A", "?A"},
			"shard s0 locks no table (ERROR 1142 (HY000): refused): statements on the table may have been refused until all shards had done it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			a := s.changing(c.text)
			for shard, replies := range c.on {
				s.shards[shard].Next(replies...)
			}
			if err := a.inTurn(a.alter); err != nil || a.told == nil || len(a.told.Done) != 3 || a.plain() != c.plain {
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

// If the locks can't be acquired, the statement is run nowhere, and no lock is left.
func TestAlterLockedNowhere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		on     map[router.ShardName][]fakeshard.Reply
		may    []error
		before string
		after  string
	}{
		"away":            {map[router.ShardName][]fakeshard.Reply{"s2": failures("DO 0")[1:2]}, nil, "", nothingDone},
		"held":            {map[router.ShardName][]fakeshard.Reply{"s1": always(busyLock)}, nil, "on shard s1: ", held + nothingDone},
		"lost":            {map[router.ShardName][]fakeshard.Reply{"s1": {{Prefix: "LOCK", Cut: fakeshard.Before}}}, nil, "on shard s1: ", nothingDone},
		"lost meanwhile":  {map[router.ShardName][]fakeshard.Reply{"s1": {freeLock, {Prefix: "LOCK", Cut: fakeshard.Within}}}, nil, "on shard s1: ", nothingDone},
		"not given back":  {map[router.ShardName][]fakeshard.Reply{"s1": {{Prefix: "UNLOCK", Cut: fakeshard.Before}}}, nil, "on shard s1: ", nothingDone},
		"a move begins":   {nil, []error{errors.New("moving")}, "", nothingDone},
		"its size":        {map[router.ShardName][]fakeshard.Reply{"s1": failures("SELECT SUM(")[1:2]}, nil, "on shard s1: ", nothingDone},
		"definition read": {map[router.ShardName][]fakeshard.Reply{"s0": always(busyAlter), "s1": always(busyAlter), "s2": always(busyAlter)}, nil, "on shard s0: ", held + nothingDone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			a := s.changing(changes)
			a.Settings = a.Settings.With(lockWaitTimeout, oneSecond)
			a.mays = c.may
			for shard, replies := range c.on {
				s.shards[shard].Next(replies...)
			}
			err := a.inTurn(a.alter)
			e, is := err.(*Error) //nolint:errorlint // it is never wrapped
			if !is || e.Before != c.before || e.After != c.after || a.told != nil {
				t.Errorf("%v, told %+v", err, a.told)
			}
			for _, shard := range a.catalog.Shards {
				got := a.heard(shard)
				if strings.HasSuffix(got, "A") || name != "definition read" && strings.Contains(got, "A") {
					t.Errorf("%s was sent %q", shard, got)
				}
				if strings.HasSuffix(got, "L") && c.on[shard] == nil {
					t.Errorf("%s has the lock still: %q", shard, got)
				}
			}
		})
	}
}

// If a shard fails under the locks, the error reports the state of each shard, and no lock is left.
func TestAlterLockedFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		on    []fakeshard.Reply
		after string
		done  int
	}{
		"refused": {[]fakeshard.Reply{{Prefix: "ALTER", Code: 1265}}, "; it was done on s0, s2: fix the cause and repeat the statement, which skips the shards where it was done", 2},
		"lost":    {[]fakeshard.Reply{{Prefix: "ALTER", Cut: fakeshard.Within}}, "; it was done on s0, s2: fix the cause and repeat the statement, which skips the shards where it was done", 2},
		"held":    {always(busyAlter), held + "; it was done on s0, s2: repeat the statement, which skips the shards where it was done", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			a := s.changing(changes)
			a.Settings = a.Settings.With(lockWaitTimeout, oneSecond)
			s.shards["s1"].Next(c.on...)
			err := a.inTurn(a.alter)
			e, is := err.(*Error) //nolint:errorlint // it is never wrapped
			if !is || e.Before != "on shard s1: " || e.After != c.after || a.told == nil || len(a.told.Done) != c.done {
				t.Errorf("%v, told %+v", err, a.told)
			}
			for _, shard := range []router.ShardName{"s0", "s2"} {
				if got := a.heard(shard); got != "?LULAU" {
					t.Errorf("%s was sent %q", shard, got)
				}
			}
		})
	}
}

// A statement that is cancelled while another session holds the table leaves nothing behind.
func TestAlterLockedIsCancelled(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	a := s.changing(changes)
	gone := errors.New("gone")
	s.shards["s1"].Next(busyLock)
	calls := 0
	a.may = func() error {
		if calls++; calls == 2 {
			s.client.Stopped = gone
		}
		return nil
	}
	err := a.inTurn(a.alter)
	if a.plain() != "" || a.told != nil {
		t.Errorf("%q, told %+v", a.plain(), a.told)
	}
	if e, is := err.(*Error); !is || !errors.Is(err, gone) || e.After != nothingDone { //nolint:errorlint // it is never wrapped
		t.Error(err)
	}
	for _, shard := range a.catalog.Shards {
		if got := a.heard(shard); strings.Contains(got, "A") {
			t.Errorf("%s was sent %q", shard, got)
		}
	}
}
