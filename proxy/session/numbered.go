package session

import (
	"context"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
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
