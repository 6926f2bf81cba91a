package session

import (
	"context"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router/cluster"
	"locus/router/stmt"
)

// Generators make numbers, or texts, by the name that they are declared under.
type Generators interface {
	// Literals gives n of a generator's numbers or texts, as SQL spells them.
	Literals(ctx context.Context, declared *cluster.Cluster, name string, n int) ([]string, error)
	// Texts gives them as they are, for a column to be stamped.
	Texts(ctx context.Context, declared *cluster.Cluster, name string, n int) ([]string, error)
}

// numbered puts numbers in the places of a statement's text that ask declared
// generators for them; ok if there were some.
func (s *Session) numbered(w *World, l *stmt.Lexed) (text []byte, ok bool, err error) {
	if s.Generators == nil || len(w.Declared.Generators) == 0 {
		return nil, false, nil
	}
	places, once := l.NextValues(func(name string) bool { _, declared := w.Declared.Generators[name]; return declared })
	if len(places) == 0 {
		return nil, false, nil
	}
	if !once {
		return nil, false, fail(mysql.ER_NOT_SUPPORTED_YET, stateGeneral,
			"a generator's number in a statement that may need more than one for a place: use it in SELECT without FROM, SET, or VALUES of an INSERT; nothing was done")
	}
	edits := make([]edit, 0, len(places))
	for len(places) > 0 {
		same := 1 // places of the same generator in a row are answered together
		for same < len(places) && places[same].Name == places[0].Name {
			same++
		}
		numbers, err := s.Generators.Literals(s.stop.waits, w.Declared, places[0].Name, same)
		if err != nil {
			return nil, false, fail(mysql.ER_AUTOINC_READ_FAILED, stateGeneral, "%v: nothing was done", err)
		}
		for i, p := range places[:same] {
			if p.Alone {
				numbers[i] = string(appendAlias([]byte(numbers[i]), l.Text[p.Start:p.End]))
			}
			edits = append(edits, edit{p.Start, p.End, numbers[i]})
		}
		places = places[same:]
	}
	return s.edited(l.Text, edits), true, nil
}
