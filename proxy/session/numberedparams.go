package session

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/kept"
	"locus/proxy/snapshot"
	"locus/proxy/wire"
	"locus/router/cluster"
	"locus/router/stmt"
)

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
		if place.Selected { // at other places, the type is that of the column
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
	texts, err := s.fromGenerators(w, s.Generators.Texts, names)
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
