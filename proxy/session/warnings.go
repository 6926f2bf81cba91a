package session

import (
	"locus/proxy/exec"
)

// showWarnings answers SHOW WARNINGS and SHOW ERRORS.
func (s *Session) showWarnings(r *exec.Execution) error {
	columns, rows, err := s.eval.ShowDiagnostics(r.Facts.Statement.Shown)
	if err != nil {
		return err
	}
	return s.engine.WriteTexts(columns, rows)
}

// diagnose runs GET DIAGNOSTICS into user variables. It changes neither the conditions nor ROW_COUNT().
func (s *Session) diagnose(r *exec.Execution) error {
	next, err := s.eval.Diagnose(r.Facts.Statement.Diagnosing)
	if err == nil {
		err = s.trySettings(next)
	}
	rows := s.vars.RowCount
	defer func() { s.vars.RowCount = rows }()
	return s.answer(err)
}
