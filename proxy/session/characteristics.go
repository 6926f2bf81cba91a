package session

import (
	"slices"
	"strings"

	"locus/proxy/sysvars"
	"locus/router/stmt"
)

// characterize takes what a SET said of transactions, and gives the SET TRANSACTION of the
// next one. What is set for all is for the next one too.
func (t *transaction) characterize(list []sysvars.Characteristic) (next string) {
	next = t.next
	for _, c := range list {
		if c.Next {
			next = nextTransaction(next, c)
			continue
		}
		t.fix(c)
		if !t.active() {
			next = withoutCharacteristic(next, c.What)
		}
	}
	return next
}

// fix has shards that join be told a characteristic that they had by themselves so
// far, unless they are told one already: the transaction that is under way stays on them
// what it was begun as, whatever the session sets for the ones to come.
func (t *transaction) fix(c sysvars.Characteristic) {
	if c.Clause == "" || c.What == "read_only" && t.how.Access != stmt.AnyAccess || withoutCharacteristic(t.scope, c.What) != t.scope {
		return
	}
	scope := nextTransaction(t.scope, c)
	if t.scope != "" {
		t.opening[0] = scope
	} else {
		t.opening = slices.Insert(t.opening, 0, scope)
	}
	t.scope = scope
}

// nextTransaction adds to SET TRANSACTION, which has an isolation level, an access
// mode or both.
func nextTransaction(have string, c sysvars.Characteristic) string {
	text := beginsNext + c.Clause
	if rest := withoutCharacteristic(have, c.What); rest != "" {
		text += ", " + strings.TrimPrefix(rest, beginsNext)
	}
	return text
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
