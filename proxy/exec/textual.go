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
func (x *Execution) prepareTextual(l txn.Lease) error {
	if x.Textual == nil {
		return nil
	}
	text := strings.ReplaceAll(x.Textual.Text, "'", "''")
	if x.Textual.Reading.Mode&stmt.NoBackslash == 0 {
		text = strings.ReplaceAll(text, `\`, `\\`)
	}
	present := l.Conn.Settings()
	if err := l.Conn.Carry(x.Context, x.Textual.Reading.On(present)); err != nil {
		return err
	}
	_, err := l.Conn.Exec(x.Context, "PREPARE "+TextualName+" FROM '"+text+"'")
	if _, lost := errors.AsType[*backend.LostError](err); lost {
		return err
	}
	if back := l.Conn.Carry(x.Context, present); err == nil {
		err = back
	}
	return err
}
