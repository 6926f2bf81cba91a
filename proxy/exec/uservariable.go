package exec

import (
	"fmt"
	"slices"
	"strings"

	"locus/proxy/backend"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/router"
	"locus/router/plan"
)

// learn reads user variables from the connection on which a statement assigned them, so that the other connections carry them too.
func (e *Engine) learn(l txn.Lease, names []string) {
	if len(names) == 0 {
		return
	}
	rows, err := l.Conn.Own().Query(e.Context, sysvars.AskUserVariables(names))
	if err != nil {
		e.endUnreadable(l, unreadable(l.Shard))
		return
	}
	next, carried := sysvars.WithUserVariables(e.Vars.Settings, names, rows)
	if next == nil {
		e.endUnreadable(l, unreadable(l.Shard))
		return
	}
	if err := e.Carriable(next); err != nil {
		e.endUnreadable(l, err)
		return
	}
	l.Conn.Adopt(next)
	e.Conns.Invalidate(carried, l.Conn)
	e.Carry(next)
}

// unreadable returns the error for values that a shard has but doesn't return. Their HEX is larger than the shard's
// max_allowed_packet, or the connection was lost.
func unreadable(shard router.ShardName) error {
	return &plan.Refusal{Code: plan.TooLarge, Message: fmt.Sprintf(
		"user variables that the statement before assigned could not be read from shard %s, being larger than half of its max_allowed_packet, or since the connection was lost: keep large values in a table", shard)}
}

// endUnreadable makes the session end before its next statement, which would not see the variables that the last one assigned. The
// client already has the answer to that one. The connection is lent to no other session.
func (e *Engine) endUnreadable(l txn.Lease, why error) {
	l.Conn.Note(backend.Unknown)
	e.Unreadable = why
}

// mostLearned is the number of variables that one query reads. Servers return at most 4,096 columns.
const mostLearned = 500

// learnAll reads the user variables that a routine may have assigned. Servers list their names. A server doesn't if its
// performance_schema is off, or the proxy's account has no right to it. Then learnAll reads the variables that the session has, and
// those that the bodies of routines name.
func (e *Engine) learnAll(l txn.Lease) {
	var names []string
	rows, err := l.Conn.Own().Query(e.Context, e.Flavor().UserVariables())
	switch {
	case err == nil && len(rows.Rows) > 0:
		for _, row := range rows.Rows {
			if row[0] != nil { // one row has no name and shows that variables are listed
				names = append(names, strings.ToLower(string(row[0])))
			}
		}
	case err != nil && !txn.IsRefusal(err):
		return // the connection was lost, and the session ends with it
	default:
		names = e.assignedOf(l, e.Current().Catalog.Variables())
	}
	slices.Sort(names)
	for chunk := range slices.Chunk(names, mostLearned) {
		e.learn(l, chunk)
	}
}

// assignedOf returns the variables that the session has, and the candidates that have a value.
func (e *Engine) assignedOf(l txn.Lease, candidates []string) []string {
	names := e.Vars.UserVariables()
	candidates = slices.DeleteFunc(slices.Clone(candidates), func(name string) bool { return slices.Contains(names, name) })
	for chunk := range slices.Chunk(candidates, mostLearned) {
		rows, err := l.Conn.Own().Query(e.Context, sysvars.AskAssigned(chunk))
		if err != nil || len(rows.Rows) != 1 || len(rows.Columns) != len(chunk) {
			e.endUnreadable(l, unreadable(l.Shard))
			return nil
		}
		for i, name := range chunk {
			if string(rows.Rows[0][i]) == "1" {
				names = append(names, name)
			}
		}
	}
	return names
}
