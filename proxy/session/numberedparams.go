package session

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/snapshot"
	"locus/proxy/sysvars"
	"locus/proxy/wire"
	"locus/router/cluster"
	"locus/router/stmt"
)

// added is a parameter that the session puts into a prepared statement in place
// of one that asks a generator: each execution has a number of its own.
type added struct {
	at        int // among all parameters
	generator string
}

// addParams puts placeholders in these places of a statement that is prepared.
func (s *Session) addParams(w *snapshot.Snapshot, p *prepared) error {
	places, err := s.nextValues(w, &p.lexed)
	if err != nil || len(places) == 0 {
		return err
	}
	var edits []exec.Edit
	for i, place := range places {
		p.added = append(p.added, added{i + paramsBefore(&p.lexed, place.Start), place.Name})
		text := "?"
		if place.Selected { // elsewhere the column that it goes to has a type
			text = "CAST(? AS " + w.Declared.Generators[place.Name].Cast() + ")"
		}
		if place.Item {
			text = string(sysvars.AppendAlias([]byte(text), p.lexed.Text[place.Start:place.End]))
		}
		edits = append(edits, exec.Edit{From: place.Start, To: place.End, Text: text})
	}
	p.text = string(s.edited(p.lexed.Text, edits))
	p.lexed.Lex([]byte(p.text), s.vars.Mode)
	return nil
}

// paramsBefore counts the client's own placeholders before a place of the text.
func paramsBefore(l *stmt.Lexed, at int) int {
	before, _ := slices.BinarySearchFunc(l.Literals, at, func(literal stmt.Literal, at int) int { return int(literal.Start) - at })
	for ; before > 0; before-- {
		if literal := l.Literals[before-1]; literal.Kind == stmt.ParamLiteral {
			return int(literal.Param) + 1
		}
	}
	return 0
}

// given is how many parameters the client has.
func (p *prepared) given() int { return p.params - len(p.added) }

// addNumbers puts numbers among the parameters that the client has sent.
func (s *Session) addNumbers(w *snapshot.Snapshot, p *prepared) error {
	names := make([]string, len(p.added))
	for i, a := range p.added {
		names[i] = a.generator
	}
	texts, err := s.fromGenerators(w, s.Generators.Texts, names)
	if err != nil {
		return err
	}
	for i, a := range p.added {
		s.params = slices.Insert(s.params, a.at, numberParam(w.Declared.Generators[a.generator], texts[i]))
		if a.at < len(p.long) {
			p.long = slices.Insert(p.long, a.at, nil)
		}
	}
	return nil
}

func numberParam(g cluster.Generator, text string) wire.Param {
	if n, err := strconv.ParseUint(text, 10, 63); err == nil && g.Kind != cluster.FormatGenerator {
		return wire.Param{Type: mysql.MYSQL_TYPE_LONGLONG, Value: binary.LittleEndian.AppendUint64(nil, n)}
	}
	return wire.Param{Type: mysql.MYSQL_TYPE_VAR_STRING, Value: []byte(text)}
}

// withoutAdded leaves the parameters that the session adds out of the answer to
// COM_STMT_PREPARE, and says what that describes then.
func withoutAdded(packets []byte, of *backend.Statement, p *prepared) ([]byte, backend.Statement) {
	described := *of
	if len(p.added) == 0 {
		return packets, described
	}
	described.Params = p.given()
	binary.LittleEndian.PutUint16(packets[wire.HeaderSize+7:], uint16(described.Params))
	return without(packets, func(number int) bool {
		isAdded := slices.ContainsFunc(p.added, func(a added) bool { return number == 1+a.at })
		return isAdded || described.Params == 0 && number == 1+of.Params // which ends them
	}), described
}
