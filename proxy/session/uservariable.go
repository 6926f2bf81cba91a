package session

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

// learn reads user variables from the connection on which a statement assigned
// them, so that every other one carries them too.
func (s *Session) learn(l txn.Lease, names []string) {
	if len(names) == 0 {
		return
	}
	rows, err := l.Conn.Own().Query(s.ctx, sysvars.AskUserVariables(names))
	if err != nil {
		s.losesValues(l, unkept(l.Shard))
		return
	}
	next, carried := sysvars.WithUserVariables(s.vars.Settings, names, rows)
	if next == nil {
		s.losesValues(l, unkept(l.Shard))
		return
	}
	if err := s.carriable(next); err != nil {
		s.losesValues(l, err)
		return
	}
	l.Conn.Adopt(next)
	s.conns.Invalidate(carried, l.Conn)
	s.carry(next)
}

// unkept is about values that a shard has and does not give, since HEX of them is
// larger than its max_allowed_packet, or the connection was lost.
func unkept(shard router.ShardName) error {
	return &plan.Refusal{Code: plan.TooLarge, Message: fmt.Sprintf(
		"user variables that the statement before assigned could not be read from shard %s, being larger than half of its max_allowed_packet, or since the connection was lost: keep large values in a table", shard)}
}

// losesValues ends the session before its next statement, which would not see what the
// last one has assigned: the client has the answer to that already. Nobody else gets the
// connection.
func (s *Session) losesValues(l txn.Lease, why error) {
	l.Conn.Note(backend.Unknown)
	s.unkept = why
}

// mostLearned is how many variables are read by one statement: servers give at most 4,096 columns.
const mostLearned = 500

// learnAll reads whichever user variables a routine may have assigned. Servers list their names; where one doesn't, since its
// performance_schema is off or is not for the proxy's account, those are asked for that the session has, and that the bodies of
// routines name.
func (s *Session) learnAll(l txn.Lease) {
	var names []string
	rows, err := l.Conn.Own().Query(s.ctx, s.flavor().UserVariables())
	switch {
	case err == nil && len(rows.Rows) > 0:
		for _, row := range rows.Rows {
			if row[0] != nil { // the row that says that they are listed
				names = append(names, strings.ToLower(string(row[0])))
			}
		}
	case err != nil && !txn.IsRefusal(err):
		return // the connection was lost, and the session ends with it
	default:
		names = s.assignedOf(l, s.Snapshot().Catalog.Variables())
	}
	slices.Sort(names)
	for chunk := range slices.Chunk(names, mostLearned) {
		s.learn(l, chunk)
	}
}

// assignedOf gives the variables that the session has, and those of the candidates that have a value.
func (s *Session) assignedOf(l txn.Lease, candidates []string) []string {
	names := s.vars.UserVariables()
	candidates = slices.DeleteFunc(slices.Clone(candidates), func(name string) bool { return slices.Contains(names, name) })
	for chunk := range slices.Chunk(candidates, mostLearned) {
		rows, err := l.Conn.Own().Query(s.ctx, sysvars.AskAssigned(chunk))
		if err != nil || len(rows.Rows) != 1 {
			s.losesValues(l, unkept(l.Shard))
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
