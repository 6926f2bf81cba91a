package kept

import "locus/proxy/wire"

// Text is the argument of a PREPARE.
type Text struct {
	Text    string
	Reading Reading
}

// Named returns the text with a name, or nil if there is none.
func (l *Statements) Named(name string) *Text { return l.byName[name] }

// UnknownName returns the error of a statement that names an unknown text.
func UnknownName(name, to string) error {
	return wire.Errorf(erUnknownStmt, wire.StateGeneral, "Unknown prepared statement handler (%s) given to %s", name, to)
}

// FullOfNames returns an error if no further text can be prepared.
func (l *Statements) FullOfNames() error {
	if len(l.byName)+len(l.byNumber) < most {
		return nil
	}
	return tooMany()
}

// Name stores a text under a new name.
func (l *Statements) Name(name string, t Text) error {
	if err := l.share.Take(textSize(name, t.Text)); err != nil {
		return err
	}
	if l.byName == nil {
		l.byName = map[string]*Text{}
	}
	l.byName[name] = &t
	return nil
}

// Forget removes the text with a name, if there is one.
func (l *Statements) Forget(name string) {
	if t := l.byName[name]; t != nil {
		l.share.Give(textSize(name, t.Text))
		delete(l.byName, name)
	}
}

func textSize(name, text string) int { return len(name) + len(text) + mapEntry + 2*lightReading }
