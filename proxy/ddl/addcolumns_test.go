package ddl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/fakeshard"
	"locus/proxy/flavor"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
)

const adds = "ALTER TABLE orders ADD colour INT DEFAULT 5 AFTER id, ADD COLUMN `size` INT"

// The statements that the shards receive.
const (
	addsHidden  = "ALTER TABLE `shop`.`orders` ADD COLUMN colour INT DEFAULT 5 INVISIBLE  AFTER id, ADD COLUMN `size` INT INVISIBLE , ALGORITHM=INSTANT"
	showsByName = "ALTER TABLE `shop`.`orders` ALTER COLUMN `colour` SET VISIBLE, ALTER COLUMN `size` SET VISIBLE"
	showsAnew   = "ALTER TABLE `shop`.`orders` MODIFY COLUMN colour INT DEFAULT 5, MODIFY COLUMN `size` INT"
)

// addition is a trial that adds columns, and counts how often the proxies are made to read them.
type addition struct {
	*trial
	known int
}

// addition returns a request to add columns. states has a letter for the state of the table on each shard: "-"
// without the columns, "h" with both invisible, "v" with both visible, "m" with one of them.
func (s *stand) addition(states string) *addition {
	a := &addition{trial: s.request(adds)}
	s.shards["s0"].Next(locked("1"))
	for i, state := range states {
		rows := [][]string{{"id", ""}, {"buyer", ""}}
		for _, name := range []string{"Colour", "size"} {
			switch {
			case state == 'v' || state == 'm' && name == "size":
				rows = append(rows, []string{name, ""})
			case state == 'h':
				rows = append(rows, []string{name, "INVISIBLE"})
			}
		}
		c := fakeshard.Number("c")
		s.shards[router.ShardName(fmt.Sprintf("s%d", i))].Next(fakeshard.Reply{Prefix: "SELECT COLUMN_NAME", Columns: []wire.Column{c, c}, Rows: rows})
	}
	return a
}

func (a *addition) run(f flavor.Flavor) error {
	a.now.Flavor = f
	a.Redefined = func(context.Context, catalog.Change) error { a.known++; return nil }
	return a.inTurn(a.addColumns)
}

// altered returns the ALTER statements that a shard received.
func (a *addition) altered(shard router.ShardName) string {
	list := slices.DeleteFunc(a.log.Statements(shard), func(sql string) bool { return !strings.HasPrefix(sql, "ALTER") })
	return strings.Join(list, "; ")
}

// Each shard gets the columns as invisible ones. They become visible when all shards have them. Steps that a
// shard has already done are not repeated.
func TestAddColumns(t *testing.T) {
	for _, c := range []struct {
		states string
		f      flavor.Flavor
		want   [3]string
		passed int
	}{
		{"---", flavor.MySQL, [3]string{addsHidden + "; " + showsByName, addsHidden + "; " + showsByName, addsHidden + "; " + showsByName}, 0},
		{"---", flavor.MariaDB, [3]string{addsHidden + "; " + showsAnew, addsHidden + "; " + showsAnew, addsHidden + "; " + showsAnew}, 0},
		{"vh-", flavor.MySQL, [3]string{"", showsByName, addsHidden + "; " + showsByName}, 1},
		{"hhv", flavor.MySQL, [3]string{showsByName, showsByName, ""}, 1},
		{"vvv", flavor.MySQL, [3]string{adds, adds, adds}, 0}, // the servers answer that nothing is left to do
		{"-m-", flavor.MySQL, [3]string{adds, adds, adds}, 0},
	} {
		s := newStand(t)
		a := s.addition(c.states)
		if err := a.run(c.f); err != nil || a.told == nil || len(a.told.Passed) != c.passed || len(a.told.Done) != 3-c.passed || a.plain() != "" {
			t.Errorf("%s: %v, told %+v", c.states, err, a.told)
		}
		for i, want := range c.want {
			if got := a.altered(router.ShardName(fmt.Sprintf("s%d", i))); got != want {
				t.Errorf("%s: s%d was sent %q, want %q", c.states, i, got, want)
			}
		}
	}
}

// If another session holds the table on a shard, the columns are added to the other shards first, and that
// shard is tried again.
func TestAddColumnsWaits(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	a := s.addition("---")
	s.shards["s1"].Next(fakeshard.Reply{Prefix: "ALTER", Code: mysql.ER_LOCK_WAIT_TIMEOUT})
	if err := a.run(flavor.MySQL); err != nil || a.known != 1 || len(a.told.Done) != 3 {
		t.Errorf("%v, told %+v", err, a.told)
	}
	sent := strings.Join(s.shards["s1"].Sent(), "; ")
	if strings.Count(sent, addsHidden) != 2 || !strings.Contains(sent, showsByName) || !strings.Contains(sent, "lock_wait_timeout") {
		t.Errorf("s1 was sent %q", sent)
	}
}

// The error of a failed statement reports the state of each shard.
func TestAddColumnsFails(t *testing.T) {
	t.Parallel()
	no, cut := fakeshard.Reply{Prefix: "ALTER", Code: 1118}, fakeshard.Reply{Prefix: "ALTER", Cut: fakeshard.Before}
	yes, late := fakeshard.Reply{Prefix: "ALTER"}, fakeshard.Reply{Prefix: "ALTER", Code: mysql.ER_LOCK_WAIT_TIMEOUT}
	goesOn := ": fix the cause and repeat the statement, which goes on"
	for name, c := range map[string]struct {
		states string
		shard  router.ShardName
		on     []fakeshard.Reply
		may    []error
		before string
		after  string
	}{
		"no lock":       {"---", "s0", failures("SELECT COLUMN_NAME")[:1], nil, "", nothingDone},
		"away":          {"---", "s2", failures("DO 0")[:1], nil, "", nothingDone},
		"refused":       {"---", "s1", []fakeshard.Reply{no}, nil, "on shard s1: ", "; the columns are on s0, and invisible" + goesOn},
		"lost at first": {"---", "s0", []fakeshard.Reply{cut}, nil, "on shard s0: ", "; nothing was done on any other shard; whether s0 has done it is not known" + goesOn},
		"lost":          {"---", "s1", []fakeshard.Reply{cut}, nil, "on shard s1: ", "; the columns are on s0, and invisible; whether s1 has done it is not known" + goesOn},
		"not shown":     {"---", "s1", []fakeshard.Reply{yes, no}, nil, "on shard s1: ", "; the columns are on s0, and, invisible, on s1, s2" + goesOn},
		"lost halfway":  {"---", "s1", []fakeshard.Reply{yes, cut}, nil, "on shard s1: ", "; the columns are on s0, and, invisible, on s1, s2; whether s1 has done it is not known" + goesOn},
		"a move begins": {"---", "s1", nil, []error{nil, errors.New("moving")}, "on shard s1: ", "; the columns are on s0, and invisible"},
		"shown before":  {"v--", "s1", []fakeshard.Reply{no}, nil, "on shard s1: ", "; the columns are on s0" + goesOn},
		"held":          {"---", "s1", slices.Repeat([]fakeshard.Reply{late}, 9), nil, "on shard s1: ", held + "; the columns are on s0, s2, and invisible" + goesOn},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			a := s.addition(c.states)
			if name == "no lock" {
				s = newStand(t)
				a = &addition{trial: s.request(adds)}
				s.shards["s0"].Next(locked("1"))
			}
			if name == "held" {
				a.Settings = a.Settings.With(lockWaitTimeout, "1")
			}
			a.mays = c.may
			s.shards[c.shard].Next(c.on...)
			err := a.run(flavor.MySQL)
			e, is := err.(*Error) //nolint:errorlint // it is never wrapped
			if !is || e.Before != c.before || !strings.HasPrefix(e.After, c.after) {
				t.Error(err)
			}
			if c.after != nothingDone && (a.told == nil || a.told.Err == nil) {
				t.Errorf("told %+v", a.told)
			}
		})
	}
}

// If the server would have to rewrite the table, the statement runs while the table is locked on all shards.
func TestAddColumnsUnderLocks(t *testing.T) {
	s := newStand(t)
	a := s.addition("---")
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "ALTER", Code: 1845})
	if err := a.run(flavor.MySQL); err != nil || len(a.told.Done) != 3 || a.plain() != "" || a.known != 0 {
		t.Errorf("%v, told %+v, %q", err, a.told, a.plain())
	}
	if got := strings.Join(a.log.Statements("s2"), "; "); !strings.HasSuffix(got, locks+"; "+adds+"; UNLOCK TABLES") {
		t.Errorf("s2 was sent %q", got)
	}
}
