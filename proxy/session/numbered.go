package session

import (
	"context"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/kept"
	"locus/proxy/snapshot"
	"locus/proxy/wire"
	"locus/router/cluster"
	"locus/router/stmt"
)

// Generators generates numbers or texts. Each generator has the name under which it is declared.
type Generators interface {
	// Literals returns n of a generator's numbers or texts, as SQL literals. values contains the values of a template's
	// {context:…}.
	Literals(ctx context.Context, declared *cluster.Cluster, name string, n int, values map[string]string) ([]string, error)
	exec.Generators
}

// nextValues returns the places of a statement's text at which declared generators are used. It refuses a statement that may need
// more than one value for a place.
func (s *Session) nextValues(w *snapshot.Snapshot, l *stmt.Lexed) ([]stmt.NextValue, error) {
	if s.Generators == nil || len(w.Declared.Generators) == 0 {
		return nil, nil
	}
	places, once := l.NextValues(func(name string) bool { _, declared := w.Declared.Generators[name]; return declared })
	if len(places) > 0 && !once {
		return nil, wire.Errorf(mysql.ER_NOT_SUPPORTED_YET, wire.StateGeneral,
			"a generator's number in a statement that may need more than one for a place: use it in SELECT without FROM, SET, or VALUES of an INSERT; nothing was done")
	}
	return places, nil
}

// numbered returns the text with generated values in these places. ok is false if there are no such places.
func (s *Session) numbered(w *snapshot.Snapshot, l *stmt.Lexed) (text []byte, ok bool, err error) {
	places, err := s.nextValues(w, l)
	if err != nil || len(places) == 0 {
		return nil, false, err
	}
	names := make([]string, len(places))
	for i, p := range places {
		names[i] = p.Name
	}
	numbers, err := s.fromGenerators(w, s.Generators.Literals, names)
	if err != nil {
		return nil, false, err
	}
	edits := make([]stmt.Edit, 0, len(places))
	for i, p := range places {
		if p.Item {
			numbers[i] = string(s.vars.AppendAlias([]byte(numbers[i]), l.Text[p.Start:p.End]))
		}
		edits = append(edits, stmt.Edit{From: p.Start, To: p.End, Text: numbers[i]})
	}
	return s.engine.Edited(l.Text, edits), true, nil
}

// fromGenerators returns a number or text for each name. Equal names in a row are generated together.
func (s *Session) fromGenerators(w *snapshot.Snapshot, ask func(context.Context, *cluster.Cluster, string, int, map[string]string) ([]string, error), names []string) ([]string, error) {
	var all []string
	for len(names) > 0 {
		same := 1
		for same < len(names) && names[same] == names[0] {
			same++
		}
		some, err := ask(s.interrupts.Waits(), w.Declared, names[0], same, s.vars.Context.Values)
		if err != nil {
			return nil, wire.Errorf(mysql.ER_AUTOINC_READ_FAILED, wire.StateGeneral, "%v: nothing was done", err)
		}
		all, names = append(all, some...), names[same:]
	}
	return all, nil
}

// addParams replaces these places of a statement to be prepared by placeholders.
func (s *Session) addParams(w *snapshot.Snapshot, p *kept.Statement) error {
	places, err := s.nextValues(w, &p.Lexed)
	if err != nil || len(places) == 0 {
		return err
	}
	var edits []stmt.Edit
	for i, place := range places {
		p.Added = append(p.Added, kept.Added{At: i + paramsBefore(&p.Lexed, place.Start), Generator: place.Name})
		text := "?"
		if place.Selected { // at other places, the column determines the type
			text = "CAST(? AS " + w.Declared.Generators[place.Name].Cast() + ")"
		}
		if place.Item {
			text = string(s.vars.AppendAlias([]byte(text), p.Lexed.Text[place.Start:place.End]))
		}
		edits = append(edits, stmt.Edit{From: place.Start, To: place.End, Text: text})
	}
	p.Text = string(s.engine.Edited(p.Lexed.Text, edits))
	p.Lexed.Lex([]byte(p.Text), s.vars.Mode)
	return nil
}

// paramsBefore returns the number of the client's own placeholders before a place of the text.
func paramsBefore(l *stmt.Lexed, at int) int {
	before, _ := slices.BinarySearchFunc(l.Literals, at, func(literal stmt.Literal, at int) int { return int(literal.Start) - at })
	for ; before > 0; before-- {
		if literal := l.Literals[before-1]; literal.Kind == stmt.ParamLiteral {
			return int(literal.Param) + 1
		}
	}
	return 0
}

// addNumbers inserts generated values among the parameters that the client has sent.
func (s *Session) addNumbers(w *snapshot.Snapshot, p *kept.Statement) error {
	names := make([]string, len(p.Added))
	for i, a := range p.Added {
		names[i] = a.Generator
	}
	texts, err := s.fromGenerators(w, func(ctx context.Context, declared *cluster.Cluster, name string, n int, values map[string]string) ([]string, error) {
		return s.Generators.Texts(ctx, declared, name, n, values, nil)
	}, names)
	if err != nil {
		return err
	}
	for i, a := range p.Added {
		s.params = slices.Insert(s.params, a.At, numberParam(w.Declared.Generators[a.Generator], texts[i]))
		if a.At < len(p.Long) {
			p.Long = slices.Insert(p.Long, a.At, nil)
		}
	}
	return nil
}

// numberParam returns a generated value as a parameter. It is an integer if the generator generates numbers that fit into 63
// bits, and otherwise a text.
func numberParam(g cluster.Generator, text string) wire.Param {
	if n, err := strconv.ParseUint(text, 10, 63); err == nil && g.Kind != cluster.FormatGenerator {
		return wire.Param{Type: mysql.MYSQL_TYPE_LONGLONG, Value: binary.LittleEndian.AppendUint64(nil, n)}
	}
	return wire.Param{Type: mysql.MYSQL_TYPE_VAR_STRING, Value: []byte(text)}
}

// withoutAdded removes the parameters that the session adds from the answer to COM_STMT_PREPARE. It returns the packets, and the
// description of the statement that they then contain.
func withoutAdded(packets []byte, of *backend.Statement, p *kept.Statement) ([]byte, backend.Statement) {
	described := *of
	if len(p.Added) == 0 {
		return packets, described
	}
	described.Params = p.Given()
	binary.LittleEndian.PutUint16(packets[wire.HeaderSize+7:], uint16(described.Params))
	return withoutPackets(packets, func(number int) bool {
		isAdded := slices.ContainsFunc(p.Added, func(a kept.Added) bool { return number == 1+a.At })
		return isAdded || described.Params == 0 && number == 1+of.Params // the end of the parameters
	}), described
}
