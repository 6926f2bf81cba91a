package session

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/proxy/reply"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// declaresNothing reports whether the statement creates an undeclared table in a database with sharded tables. Its rows will be
// on the default shard alone, which may not be what the client intended.
func (s *Session) declaresNothing(r *exec.Execution) bool {
	st := r.Facts.Statement
	if st.Features&stmt.MakesTable == 0 || len(st.Tables) == 0 || !s.wantsNotes() {
		return false
	}
	name := r.FullName(st.Tables[0])
	_, declared := r.Snapshot.Catalog.Declared(name)
	return !declared && r.Snapshot.Catalog.HasSharded(name.Schema)
}

// wantsNotes reports whether the session has not switched off notes.
func (s *Session) wantsNotes() bool {
	literal, set := s.vars.Settings.Lookup("sql_notes")
	return !set || literal != "0" && literal != "OFF" && literal != "'OFF'"
}

// notingUndeclared returns an ending that adds a note to the OK of a shard.
func (s *Session) notingUndeclared(r *exec.Execution, next reply.Ending) reply.Ending {
	name := r.FullName(r.Facts.Statement.Tables[0])
	return func(dst, packet []byte) ([]byte, error) {
		if packet[wire.HeaderSize] != mysql.OK_HEADER {
			return next(dst, packet)
		}
		ok, err := wire.ParseOK(packet[wire.HeaderSize:], 0)
		if err != nil {
			return nil, err
		}
		s.vars.Note(mysql.ER_UNKNOWN_ERROR, "table "+name.String()+" is not declared: all its rows are on the default shard; a COMMENT 'locus: …' declares it")
		ok.Warnings++
		_, seq := wire.Header(packet)
		noted, _ := wire.AppendOK(nil, seq, ok, s.client.Capabilities)
		return next(dst, noted)
	}
}
