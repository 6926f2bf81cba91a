package ddl

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/fakeshard"
	"locus/router/plan"
)

// A trigger is created while its table is locked. An account that may not lock tables creates it without the lock, with a warning. Any
// other refusal of the lock is the statement's.
func TestDefineTrigger(t *testing.T) {
	t.Parallel()
	const (
		create = "CREATE TRIGGER t BEFORE INSERT ON scratch FOR EACH ROW SET NEW.a = 5"
		lock   = "LOCK TABLES `shop`.`scratch` WRITE"
		unlock = "UNLOCK TABLES"
	)
	for code, want := range map[uint16][]string{
		0: {lock, create, unlock}, mysql.ER_TABLEACCESS_DENIED_ERROR: {lock, create, unlock}, mysql.ER_DBACCESS_DENIED_ERROR: {lock, create, unlock},
		mysql.ER_LOCK_WAIT_TIMEOUT: {lock}, mysql.ER_QUERY_INTERRUPTED: {lock},
	} {
		s := newStand(t)
		a := s.request(create)
		if code != 0 {
			s.shards["s0"].Next(fakeshard.Reply{Prefix: "LOCK", Code: code})
		}
		ok, err := s.session.DefineTrigger(a.Statement, "s0")
		var got []string
		for _, sql := range s.log.Statements("s0") {
			if slices.Contains([]string{lock, create, unlock}, sql) {
				got = append(got, sql)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d: %s", code, strings.Join(got, "; "))
		}
		if made := len(want) == 3; made != (err == nil) || !made && !refused(err, code) {
			t.Errorf("%d: %v", code, err)
		}
		if warned := code != 0 && len(want) == 3; warned != (ok.Warnings == 1) || warned != (len(s.conditions.warnings) == 1) {
			t.Errorf("%d: %d warnings, %v", code, ok.Warnings, s.conditions.warnings)
		}
	}
}

// A trigger that assigns user variables is refused if the account may not lock tables.
func TestATriggerThatNeedsTheLock(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	a := s.request("CREATE TRIGGER t BEFORE INSERT ON scratch FOR EACH ROW SET @a = 5")
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "LOCK", Code: mysql.ER_TABLEACCESS_DENIED_ERROR})
	_, err := s.session.DefineTrigger(a.Statement, "s0")
	if _, is := errors.AsType[*plan.Refusal](err); !is || !strings.Contains(err.Error(), "GRANT LOCK TABLES") {
		t.Errorf("%v", err)
	}
	if slices.ContainsFunc(s.log.Statements("s0"), func(sql string) bool { return strings.HasPrefix(sql, "CREATE TRIGGER") }) {
		t.Error("it was created")
	}
}
