package stmt

import "strings"

// into is the clause INTO @a, @b of a SELECT.
type into struct {
	start, end int32
	names      []string // in lower case, without @
}

// intoVariables finds the clause, of which a statement has one at most.
func (l *Lexed) intoVariables() into {
	scan := tokens{l: l}
	for first := true; ; first = false {
		t, ok := scan.next()
		switch {
		case !ok, first && !l.is(t, "select") && !l.is(t, "with") && l.Text[t.start] != '(':
			return into{}
		case t.depth == 0 && !t.qualified && l.is(t, "into"):
			return l.intoNames(t)
		}
	}
}

func (l *Lexed) intoNames(t token) into {
	found := into{start: int32(t.start)}
	for at := t.end; ; at++ {
		at = skipBlanks(l.Text, at)
		if at+1 >= len(l.Text) || l.Text[at] != '@' || l.Text[at+1] == '@' {
			return into{}
		}
		name, end := nameAt(l.Text, at+1)
		if name == "" {
			return into{}
		}
		found.names, found.end = append(found.names, name), int32(end)
		if at = skipBlanks(l.Text, end); at >= len(l.Text) || l.Text[at] != ',' {
			return found
		}
	}
}

// intoTargets notes the variables that the statement fills.
func (r *reader) intoTargets() {
	for _, name := range r.l.intoVariables().names {
		r.out.Features |= SetsUserVariable
		r.assigned(strings.ToLower(name))
	}
}
