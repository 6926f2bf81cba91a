package kept

import "locus/proxy/wire"

// Text is what PREPARE was given.
type Text struct {
	Text    string
	Reading Reading
}

// Named gives the text of a name; nil: there is none.
func (l *Statements) Named(name string) *Text { return l.byName[name] }

// UnknownName is the error of a statement that names a text that there is not.
func UnknownName(name, to string) error {
	return wire.Errorf(erUnknownStmt, wire.StateGeneral, "Unknown prepared statement handler (%s) given to %s", name, to)
}

// FullOfNames tells whether no other text can be prepared.
func (l *Statements) FullOfNames() error {
	if len(l.byName)+len(l.byNumber) < most {
		return nil
	}
	return tooMany()
}

// Name keeps a text under a name that has none.
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

// Forget forgets the text of a name, if there is one.
func (l *Statements) Forget(name string) {
	if t := l.byName[name]; t != nil {
		l.share.Give(textSize(name, t.Text))
		delete(l.byName, name)
	}
}

func textSize(name, text string) int { return len(name) + len(text) + mapEntry + 2*lightReading }
