package ddl

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/fakeshard"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/stmt"
)

const (
	altering = "ALTER TABLE orders ADD COLUMN colour INT"
	making   = "CREATE TABLE IF NOT EXISTS orders (id BIGINT NOT NULL, buyer BIGINT NOT NULL, amount BIGINT)"
)

// locked is the first shard's reply to a GET_LOCK for the table.
func locked(got string) fakeshard.Reply {
	return fakeshard.Reply{Prefix: "SELECT GET_LOCK(", Columns: []wire.Column{fakeshard.Number("l")}, Rows: [][]string{{got}}}
}

// shown is a shard's reply with the definition of a table.
func shown(text string) fakeshard.Reply {
	c := fakeshard.Number("c")
	return fakeshard.Reply{Prefix: "SHOW CREATE", Columns: []wire.Column{c, c}, Rows: [][]string{{"orders", text}}}
}

// everywhere makes a definition for which the first shard has given the lock.
func (a *trial) everywhere() (told *Outcome, err error) {
	a.shards["s0"].Next(locked("1"))
	a.finish = func(out Outcome) {
		told = &out
		if sent := a.shards["s0"].Sent(); slices.ContainsFunc(sent, func(sql string) bool { return strings.HasPrefix(sql, "DO RELEASE_LOCK") }) {
			a.t.Error("its turn is over before it has told")
		}
	}
	err = a.inTurn(a.define)
	return told, err
}

// The statement is sent only when all shards are reachable, and only one statement for the table runs at a
// time.
func TestDefine(t *testing.T) {
	s := newStand(t)
	a := s.request(altering)
	s.shards["s1"].Next(fakeshard.Reply{Prefix: "ALTER", Warnings: 2})
	s.shards["s2"].Next(fakeshard.Reply{Prefix: "ALTER", Warnings: 1, Affected: 5})
	got, err := a.everywhere()
	if err != nil || got == nil || len(got.Done) != 3 || got.OK.Warnings != 2 || got.OK.AffectedRows != 7 || !slices.Equal(s.log.WarnedBy(), []router.ShardName{"s1"}) {
		t.Errorf("%+v, %v, warned by %v", got, err, s.log.WarnedBy())
	}
	if got := strings.Join(s.log.Statements("s0"), "; "); !strings.HasPrefix(got, "DO RELEASE_LOCK('locus definition ") {
		t.Errorf("s0 was sent %q", got)
	}
	s.log.Sent(map[router.ShardName]string{"s1": "DO 0; " + altering, "s2": "DO 0; " + altering})
}

// If one shard can't begin, the statement is run nowhere.
func TestDefineBeginsNowhere(t *testing.T) {
	for name, c := range map[string]struct {
		shard   router.ShardName
		replies []fakeshard.Reply
	}{
		"turn":     {"s0", []fakeshard.Reply{locked("0")}},
		"no lock":  {"s0", failures("SELECT GET_LOCK(")[:1]},
		"lost":     {"s0", failures("SELECT GET_LOCK(")[1:2]},
		"refuses":  {"s2", failures("DO 0")[:1]},
		"is gone":  {"s2", failures("DO 0")[1:2]},
		"half way": {"s1", failures("DO 0")[2:]},
	} {
		s := newStand(t)
		a := s.request(altering)
		s.shards[c.shard].Next(c.replies...)
		told, err := a.everywhere()
		if e, ok := err.(*Error); !ok || e.After != "; nothing was done on any shard" || told != nil { //nolint:errorlint // it is never wrapped
			t.Errorf("%s: %v, told %+v", name, err, told)
		} else if strings.Contains(e.Error(), "unknown") {
			t.Errorf("%s: %v", name, err)
		}
		for shard := range s.shards {
			if slices.Contains(s.log.Statements(shard), altering) {
				t.Errorf("%s: %s has it", name, shard)
			}
		}
	}
	s := newStand(t)
	s.client.Stopped = errors.New("gone")
	if told, err := s.request(altering).everywhere(); !errors.Is(err, s.client.Stopped) || told != nil {
		t.Error(err)
	}
}

// If a shard fails, the error reports the state of the others, and a table that was just created is dropped
// again.
func TestDefineFails(t *testing.T) {
	no := fakeshard.Reply{Code: 1142}
	cut := fakeshard.Reply{Cut: fakeshard.Within}
	for _, c := range []struct {
		name, text string
		on         map[router.ShardName]fakeshard.Reply
		want       string // in the error
		done       int
		dropped    []router.ShardName
	}{
		{"refused", altering, map[router.ShardName]fakeshard.Reply{"s1": no}, "on shard s1: ERROR 1142 (HY000): refused; it was done on s0, s2: fix", 2, nil},
		{"lost", altering, map[router.ShardName]fakeshard.Reply{"s1": cut}, "it was done on s0, s2: fix", 2, nil},
		{"refused by all", altering, map[router.ShardName]fakeshard.Reply{"s0": no, "s1": no, "s2": no}, "ERROR 1142", 0, nil},
		{"lost by all", altering, map[router.ShardName]fakeshard.Reply{"s0": cut, "s1": no, "s2": no}, "whether on s0 is not known", 0, nil},
		{"not made", making, map[router.ShardName]fakeshard.Reply{"s1": no}, "it was made on s0, s2 and dropped there again", 2, []router.ShardName{"s0", "s2"}},
		{"perhaps made", making, map[router.ShardName]fakeshard.Reply{"s1": cut}, "whether it is on s1 is not known", 2, []router.ShardName{"s0", "s2"}},
	} {
		s := newStand(t)
		a := s.request(c.text)
		for shard, reply := range c.on {
			reply.Prefix, _, _ = strings.Cut(c.text, " ")
			s.shards[shard].Next(reply)
		}
		told, err := a.everywhere()
		if err == nil || !strings.Contains(err.Error(), c.want) || told == nil || len(told.Done) != c.done || told.Passed != nil {
			t.Errorf("%s: %v, told %+v", c.name, err, told)
		}
		for _, shard := range a.catalog.Shards[1:] { // define has checked the first shard
			if got, want := slices.Contains(s.log.Statements(shard), "DROP TABLE `shop`.`orders`"), slices.Contains(c.dropped, shard); got != want {
				t.Errorf("%s: dropped on %s is %t", c.name, shard, got)
			}
		}
	}
	for _, reply := range []fakeshard.Reply{{Prefix: "DROP", Code: 1142}, {Prefix: "DROP", Cut: fakeshard.Before}} {
		s := newStand(t)
		a := s.request(making)
		s.shards["s1"].Next(fakeshard.Reply{Prefix: "CREATE", Code: 1142})
		s.shards["s2"].Next(reply)
		if _, err := a.everywhere(); err == nil || !strings.Contains(err.Error(), "could not be dropped there again") {
			t.Error(err)
		}
	}
}

// A routine that can't be created on all shards is dropped where it was created. DROP succeeds on a shard where the routine,
// or its database, is missing already.
func TestDefineRoutines(t *testing.T) {
	created := stmt.RoutineDefinition{Kind: "FUNCTION", Name: stmt.TableName{Name: "paid"}, Creates: true}
	replaced, dropped := created, created
	replaced.Replaces, dropped.Creates = true, false
	for _, c := range []struct {
		name, text string
		routine    stmt.RoutineDefinition
		on         map[router.ShardName]fakeshard.Reply
		want       string // part of the error; empty: no error
		passed     int
		dropped    bool // on s2
	}{
		{"refused", "CREATE FUNCTION paid() RETURNS INT RETURN 1", created, map[router.ShardName]fakeshard.Reply{"s1": {Code: 1418}}, "it was made on s0, s2 and dropped there again", 0, true},
		{"there already", "CREATE FUNCTION paid() RETURNS INT RETURN 1", created, map[router.ShardName]fakeshard.Reply{"s1": {Code: 1304}}, "on shard s1: ERROR 1304", 0, true},
		{"perhaps made", "CREATE FUNCTION paid() RETURNS INT RETURN 1", created, map[router.ShardName]fakeshard.Reply{"s1": {Cut: fakeshard.Within}}, "is not known: DROP it IF EXISTS, and repeat", 0, true},
		{"no database", "CREATE FUNCTION paid() RETURNS INT RETURN 1", created, map[router.ShardName]fakeshard.Reply{"s1": {Code: 1049}}, "", 1, false},
		{"not replaced", "CREATE OR REPLACE FUNCTION paid() RETURNS INT RETURN 1", replaced, map[router.ShardName]fakeshard.Reply{"s1": {Code: 1418}}, "it was done on s0, s2: fix the cause and repeat", 0, false},
		{"gone", "DROP FUNCTION paid", dropped, map[router.ShardName]fakeshard.Reply{"s1": {Code: 1305}}, "", 1, false},
		{"gone everywhere", "DROP FUNCTION paid", dropped, map[router.ShardName]fakeshard.Reply{"s0": {Code: 1305}, "s1": {Code: 1305}, "s2": {Code: 1305}}, "ERROR 1305", 0, false},
	} {
		s := newStand(t)
		a := s.request(c.text)
		a.Facts.Statement.Defined = &c.routine
		for shard, reply := range c.on {
			reply.Prefix, _, _ = strings.Cut(c.text, " ")
			s.shards[shard].Next(reply)
		}
		told, err := a.everywhere()
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) || told == nil || len(told.Passed) != c.passed {
			t.Errorf("%s: %v, told %+v", c.name, err, told)
		}
		if got := slices.Contains(s.log.Statements("s2"), "DROP FUNCTION `shop`.`paid`"); got != c.dropped {
			t.Errorf("%s: dropped again is %t", c.name, got)
		}
	}
}

// A shard is skipped if it answers that the statement was already executed, and if its table is equal to the table of a shard
// where the statement was executed now.
func TestDefinePasses(t *testing.T) {
	for name, c := range map[string]struct {
		replies []fakeshard.Reply
		want    string
	}{
		"alike":   {[]fakeshard.Reply{shown("(\n b,\n a\n) AUTO_INCREMENT=7")}, ""},
		"lacks":   {[]fakeshard.Reply{shown("(\n a\n)")}, "it lacks b"},
		"has":     {[]fakeshard.Reply{shown("(\n a,\n b,\n c\n)")}, "it has c"},
		"dropped": {[]fakeshard.Reply{{Prefix: "SHOW CREATE", Code: 1146}}, "it lacks"},
		"lost":    {[]fakeshard.Reply{{Prefix: "SHOW CREATE", Cut: fakeshard.Before}}, "lost"},
	} {
		s := newStand(t)
		a := s.request(altering)
		s.shards["s0"].Next(shown("(\n a,\n b\n)"))
		s.shards["s1"].Next(fakeshard.Reply{Prefix: "ALTER", Code: mysql.ER_DUP_FIELDNAME})
		s.shards["s1"].Next(c.replies...)
		told, err := a.everywhere()
		switch {
		case c.want == "" && (err != nil || len(told.Passed) != 1 || told.Passed[0].Shard != "s1" || len(told.Done) != 2):
			t.Errorf("%s: %v, told %+v", name, err, told)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The proxy implements IF NOT EXISTS: an object that all shards have is no error.
func TestDefineIfNotExists(t *testing.T) {
	for _, text := range []string{making, strings.Replace(making, "IF NOT EXISTS ", "", 1)} {
		s := newStand(t)
		a := s.request(text)
		for _, shard := range s.shards {
			shard.Next(fakeshard.Reply{Prefix: "CREATE TABLE ", Code: mysql.ER_TABLE_EXISTS_ERROR})
		}
		told, err := a.everywhere()
		if text == making && (err != nil || len(told.Done) != 0 || len(told.Passed) != 3) || text != making && !refused(err, mysql.ER_TABLE_EXISTS_ERROR) {
			t.Errorf("%v, told %+v", err, told)
		}
		if sent := strings.Join(s.log.Statements("s1"), "; "); strings.Contains(sent, "EXISTS") {
			t.Errorf("s1 was sent %q", sent)
		}
	}
	s := newStand(t)
	a := s.request(making)
	for _, there := range []bool{true, false} {
		for name, shard := range s.shards {
			if there || name != "s2" {
				shard.Next(shown("(\n a\n)"))
			}
		}
		if got := a.madeEverywhere(); got != there {
			t.Errorf("it is everywhere: %t, want %t", got, there)
		}
	}
}
