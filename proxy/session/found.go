package session

import (
	"slices"

	"locus/proxy/exec"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
)

// count keeps what ROW_COUNT() and FOUND_ROWS() are to say of a statement that a
// shard has answered.
func (s *Session) count(l txn.Lease, r *request, failed bool) {
	ok, has := s.client.Scanner.OK()
	code, _ := s.client.Scanner.ErrCode()
	ask := s.vars.Count(r.facts.Statement, sysvars.Answer{
		Failed: failed, Begun: failed && !slices.Contains(beforeBeginning, code), Columns: s.client.Scanner.Columns() > 0,
		Rows: uint64(s.client.Scanner.Rows()), Offset: s.offset(r), OK: has, Affected: ok.AffectedRows,
	})
	if ask {
		s.askFoundRows(l)
	}
}

// offset is the OFFSET of a query, 0 if it is not known.
func (s *Session) offset(r *request) uint64 {
	blocks := r.facts.Statement.Blocks
	if len(blocks) == 0 || blocks[0].Limit == nil || blocks[0].Limit.Offset == nil || blocks[0].Limit.Unplaced {
		return 0
	}
	n, _ := exec.LimitNumber(r.values.Operand(*blocks[0].Limit.Offset))
	return n
}

// askFoundRows is readFoundRows between a statement and what comes behind it.
func (s *Session) askFoundRows(l txn.Lease) {
	status := s.statusOn(l)
	s.readFoundRows(l)
	l.Conn.SetStatus(status)
}
