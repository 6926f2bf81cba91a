package exec

import (
	"errors"
	"strings"

	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/router/stmt"
)

// TextualName is the name under which connections prepare a text that they are about to execute. It is prepared again each time.
const TextualName = "locus_text"

// prepareTextual prepares on a connection the text that an EXECUTE is about to run there.
func (e *Environment) prepareTextual(l txn.Lease, w *Work) error {
	if w.Textual == nil {
		return nil
	}
	text := strings.ReplaceAll(w.Textual.Text, "'", "''")
	if w.Textual.Reading.Mode&stmt.NoBackslash == 0 {
		text = strings.ReplaceAll(text, `\`, `\\`)
	}
	present := l.Conn.Settings()
	if err := l.Conn.Carry(e.Context, w.Textual.Reading.On(present)); err != nil {
		return err
	}
	_, err := l.Conn.Exec(e.Context, "PREPARE "+TextualName+" FROM '"+text+"'")
	if _, lost := errors.AsType[*backend.LostError](err); lost {
		return err
	}
	if back := l.Conn.Carry(e.Context, present); err == nil {
		err = back
	}
	return err
}
