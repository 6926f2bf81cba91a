package session

import (
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router/stmt"
)

// assignTransaction sets the isolation level or read-only mode, for the session
// or for the next transaction. The servers have different names for them.
func (s *Session) assignTransaction(next *view, w *World, v stmt.Variable, what string) error {
	literal, err := s.literal(v)
	if err != nil {
		return err
	}
	if v.NextOnly {
		if s.txn.active() {
			return fail(mysql.ER_CANT_CHANGE_TX_CHARACTERISTICS, "25001", "Transaction characteristics can't be changed while a transaction is in progress")
		}
		next.next = nextTransaction(next.next, what, strings.ReplaceAll(strings.Trim(literal, "'"), "-", " "))
		return nil
	}
	name := "transaction_" + what
	if v.Name != name { // which MariaDB 10.11 doesn't know, and says so
		name = w.Flavor.Characteristic(name)
	}
	if what == "read_only" && literal != "DEFAULT" {
		literal = switched(literal)
	}
	if err := s.keepCharacteristic(name, what); err != nil {
		return err
	}
	next.settings = next.settings.With(name, literal)
	if !s.txn.active() {
		next.next = withoutCharacteristic(next.next, what) // what is set for all is for the next one too
	}
	return nil
}

// keepCharacteristic has the transaction that is under way be on further shards what it
// was begun as, whatever the session sets for the ones to come.
func (s *Session) keepCharacteristic(variable, what string) error {
	if !s.txn.running() {
		return nil
	}
	value, err := s.compute(s.settings, "@@"+variable)
	if err != nil {
		return err
	}
	s.txn.fix(what, strings.ReplaceAll(strings.Trim(value, "'"), "-", " "))
	return nil
}

// fix has shards that join be told a characteristic that they had by themselves so
// far, unless they are told one already.
func (t *transaction) fix(what, value string) {
	if what == "read_only" && t.how.Access != stmt.AnyAccess {
		return
	}
	if withoutCharacteristic(t.scope, what) != t.scope {
		return
	}
	scope := nextTransaction(t.scope, what, value)
	if t.scope != "" {
		t.opening[0] = scope
	} else {
		t.opening = slices.Insert(t.opening, 0, scope)
	}
	t.scope = scope
}

// nextTransaction adds to SET TRANSACTION, which has an isolation level, an access
// mode or both.
func nextTransaction(have, what, value string) string {
	part := "READ WRITE"
	switch {
	case what == "isolation":
		part = "ISOLATION LEVEL " + value
	case switched(value) == "1":
		part = "READ ONLY"
	}
	if rest := withoutCharacteristic(have, what); rest != "" {
		part += ", " + strings.TrimPrefix(rest, beginsNext)
	}
	return beginsNext + part
}

// withoutCharacteristic takes one out of a SET TRANSACTION; it is empty if none is left.
func withoutCharacteristic(have, what string) string {
	var rest []string
	for old := range strings.SplitSeq(strings.TrimPrefix(have, beginsNext), ", ") {
		if old != "" && strings.HasPrefix(old, "READ") != (what == "read_only") {
			rest = append(rest, old)
		}
	}
	if len(rest) == 0 {
		return ""
	}
	return beginsNext + strings.Join(rest, ", ")
}

const beginsNext = "SET TRANSACTION "
