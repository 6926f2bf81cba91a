package session

import (
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
		if s.txn.running() {
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
	next.settings = next.settings.With(name, literal)
	return nil
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
	const begins = "SET TRANSACTION "
	list := []string{part}
	for old := range strings.SplitSeq(strings.TrimPrefix(have, begins), ", ") {
		if old != "" && old[:4] != part[:4] {
			list = append(list, old)
		}
	}
	return begins + strings.Join(list, ", ")
}
