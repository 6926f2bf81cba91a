package session

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/reply"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// transactionState is how the client is told of its transaction.
func (s *Session) transactionState() string {
	switch {
	case s.conns.Reserved(txn.GlobalTransaction):
		return sysvars.Begun
	case !s.conns.Begun():
		return sysvars.NotBegun
	case s.conns.How().Snapshot:
		return sysvars.BegunReading
	}
	return sysvars.Begun
}

// telling is an ending that tells, in the OK of a shard, how a statement leaves the
// transaction; nil if the client knows.
func (s *Session) telling(r *request) reply.Ending {
	xa := r.facts.Statement.Kind == stmt.XA
	if !s.vars.TellsTransactions() || s.conns.Begun() && s.vars.InTransaction() && !xa {
		return nil // in a transaction that it was told of
	}
	state := s.transactionState()
	if xa {
		state = stateOfXA(r.facts.Statement.Branch.Verb, state)
	}
	if s.vars.Knows(state) {
		return nil
	}
	return func(dst, packet []byte) ([]byte, error) {
		payload := packet[wire.HeaderSize:]
		if payload[0] != mysql.OK_HEADER {
			return append(dst, packet...), nil
		}
		ok, err := wire.ParseOK(payload, 0)
		if err != nil {
			return nil, err
		}
		ok.Changes = s.vars.AppendState(nil, state)
		_, seq := wire.Header(packet)
		dst, _ = wire.AppendOK(dst, seq, ok, s.client.Capabilities)
		return dst, nil
	}
}

// stateOfXA is the state that an XA statement leads to from another one.
func stateOfXA(verb, from string) string {
	switch verb {
	case "start":
		return sysvars.Begun
	case "prepare", "commit", "rollback":
		return sysvars.NotBegun
	}
	return from
}
