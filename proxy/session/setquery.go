package session

import (
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/proxy/reply"
	"locus/proxy/wire"
	"locus/router/catalog"
)

// setByQuery runs SET of one user variable to a value that is read from declared tables, as SELECT … INTO. done is false for other
// statements.
func (s *Session) setByQuery(r *exec.Execution) (done bool, err error) {
	assigned := r.Facts.Statement.Variables
	if len(assigned) != 1 || !assigned[0].User || assigned[0].Expression == "" || r.Prepared != nil || s.declaredTable(r) == nil {
		return false, nil
	}
	if s.vars.LimitsRows() { // a SELECT without rows assigns nothing, and a SET is not limited
		return false, nil
	}
	final, found := s.client.Final, s.vars.FoundRows
	s.client.Final = func(last reply.Ending) reply.Ending { return final(s.changingNoRow(last)) }
	defer func() { s.client.Final = final }()
	text := "SELECT " + assigned[0].Expression + " INTO @`" + strings.ReplaceAll(assigned[0].Name, "`", "``") + "`"
	if err := s.runChanged(r, []byte(text), s.planContext(r.Snapshot)); err != nil {
		return true, err
	}
	s.vars.RowCount, s.vars.FoundRows = 0, found
	return true, nil
}

// declaredTable returns a declared table that a statement names, or nil.
func (s *Session) declaredTable(r *exec.Execution) *catalog.TableName {
	for _, name := range r.Facts.Statement.Tables {
		full := catalog.TableName{Schema: name.Schema, Name: name.Name}
		if full.Schema == "" {
			full.Schema = s.vars.Settings.Database()
		}
		if t, err := r.Snapshot.Catalog.Find(full); t != nil || err != nil {
			return &full
		}
	}
	return nil
}

// changingNoRow returns last with an OK that reports no affected row, as the OK of a SET does.
func (s *Session) changingNoRow(last reply.Ending) reply.Ending {
	return func(dst, packet []byte) (out []byte, err error) {
		from := len(dst)
		if last == nil {
			out = append(dst, packet...)
		} else if out, err = last(dst, packet); err != nil {
			return nil, err
		}
		end := out[from:]
		if end[wire.HeaderSize] != mysql.OK_HEADER {
			return out, nil
		}
		ok, err := wire.ParseOK(end[wire.HeaderSize:], s.client.Capabilities)
		if err != nil {
			return nil, err
		}
		ok.AffectedRows = 0
		_, seq := wire.Header(end)
		changed, _ := wire.AppendOK(nil, seq, ok, s.client.Capabilities)
		return append(out[:from], changed...), nil
	}
}
