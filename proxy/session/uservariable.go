package session

import (
	"slices"
	"strings"

	"locus/proxy/backend"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
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
		s.losesValues(l, errUnkept)
		return
	}
	next, carried := sysvars.WithUserVariables(s.vars.Settings, names, rows)
	if next == nil {
		s.losesValues(l, errUnkept)
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

// errUnkept is about values that a shard has and does not give, since HEX of them is
// larger than its max_allowed_packet, or the connection was lost.
var errUnkept = &plan.Refusal{Code: plan.TooLarge, Message: "user variables that the statement before assigned could not be read from the shard, being larger than half of its max_allowed_packet, or since the connection was lost: keep large values in a table"}

// losesValues ends the session before its next statement, which would not see what the
// last one has assigned: the client has the answer to that already. Nobody else gets the
// connection.
func (s *Session) losesValues(l txn.Lease, why error) {
	l.Conn.Note(backend.Unknown)
	s.unkept = why
}

// learnAll reads whichever user variables a routine may have assigned. Servers
// list their names; of one that doesn't (performance_schema is off, or not for the
// proxy's account) only those are read that the session has, and new ones stay unknown
// to other connections.
func (s *Session) learnAll(l txn.Lease) {
	rows, err := l.Conn.Own().Query(s.ctx, s.flavor().UserVariables())
	if err != nil {
		if txn.IsRefusal(err) {
			s.learn(l, s.vars.UserVariables())
		}
		return
	}
	var names []string
	for _, row := range rows.Rows {
		names = append(names, strings.ToLower(string(row[0])))
	}
	slices.Sort(names)
	s.learn(l, names)
}
