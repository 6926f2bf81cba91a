package stmt

// into is the clause INTO @a, @b of a query.
type into struct {
	start, end int32
	names      []string // in lower case, without @
}

// intoVariables finds the clause INTO, of which a statement has at most one. It may come before FROM, at the end, before FOR
// UPDATE, and within parentheses.
func (l *Lexed) intoVariables() into {
	scan := tokens{l: l}
	for first := true; ; first = false {
		t, ok := scan.next()
		switch {
		case !ok, first && l.Text[t.start] != '(' && !l.isQuery(t):
			return into{}
		case !t.qualified && l.is(t, "into"):
			if found := l.intoNames(t); found.names != nil {
				return found
			}
		}
	}
}

func (l *Lexed) isQuery(t token) bool {
	return l.is(t, "select") || l.is(t, "with") || l.is(t, "values") || l.is(t, "table")
}

func (l *Lexed) intoNames(t token) into {
	found := into{start: int32(t.start)}
	for at := t.end; ; at++ {
		at = l.behindBlanks(at)
		if at >= len(l.Text) || l.Text[at] != '@' {
			return into{}
		}
		name, end := l.userVariable(at)
		if name == "" {
			return into{}
		}
		found.names, found.end = append(found.names, name), int32(end)
		if at = l.behindBlanks(end); at >= len(l.Text) || l.Text[at] != ',' {
			return found
		}
	}
}

// userVariable reads the user variable at @. It returns its name in lower case, or "" if there is none, and its end.
func (l *Lexed) userVariable(at int) (name string, end int) {
	at++
	if at >= len(l.Text) {
		return "", at
	}
	if c := l.Text[at]; class[c] == quoteByte {
		if literal, ok := l.literalAt(at); ok {
			args := Args{Lexed: &Lexed{Mode: l.Mode}}
			return lower(string(args.unquote(l.Text[at:literal.End]))), int(literal.End)
		}
		if end = quotedEnd(l.Text, at, false); end < 0 {
			return "", at
		}
		return lower(Unquoted(l.Text[at:end])), end
	}
	for end = at; end < len(l.Text) && (inName(l.Text[end]) || l.Text[end] == '.'); end++ {
	}
	return lower(string(l.Text[at:end])), end
}

// userVariables lists the distinct user variables that a text names.
func (l *Lexed) userVariables() (names []string) {
	seen := map[string]bool{}
	scan := tokens{l: l}
	for scan.pos < len(l.Text) {
		if scan.skipLiteral() || scan.skipAside() {
			continue
		}
		c, end := l.Text[scan.pos], scan.pos+1
		switch {
		case class[c] == quoteByte:
			if end = quotedEnd(l.Text, scan.pos, false); end < 0 {
				return names
			}
		case c == '@' && end < len(l.Text) && l.Text[end] == '@':
			end++
		case c == '@':
			var name string
			if name, end = l.userVariable(scan.pos); name != "" && !seen[name] {
				seen[name], names = true, append(names, name)
			}
		case startsWord(c):
			end = wordEnd(l.Text, scan.pos)
		}
		scan.pos = end
	}
	return names
}

// intoTargets records the variables that the statement assigns.
func (r *reader) intoTargets() {
	for _, name := range r.l.intoVariables().names {
		r.out.Features |= SetsUserVariable
		r.out.Verbatim = r.out.Verbatim || r.l.quotedVariables()
		r.assigned(name)
	}
}
