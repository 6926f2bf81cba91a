package stmt

// explainedWords bounds the words before the explained statement.
const explainedWords = 16

// readExplained reads EXPLAIN, and MariaDB's ANALYZE, of a statement with options that the parser doesn't support. It returns false
// for other statements. The explained statement is read separately.
func readExplained(l *Lexed) (*Statement, bool) {
	r := lexemeReader{l, l.lexemes(explainedWords)}
	s := &Statement{Kind: Explain}
	statements := []string{"select", "insert", "replace", "update", "delete", "with"}
	switch {
	case r.takes("analyze"):
		s.Analyzes = true
	case r.takes("explain"), r.takes("describe"), r.takes("desc"):
		statements = append(statements, "table", "values")
	default:
		return nil, false
	}
	for {
		switch {
		case r.takes("analyze"):
			s.Analyzes = true
			continue
		case r.takes("extended"), r.takes("partitions"):
			s.Formatted = true
			continue
		case r.takes("format"):
			s.Formatted = true
			r.takesChar('=')
			if _, is := r.text(); !is {
				if _, is := r.name(); !is {
					return nil, false
				}
			}
			continue
		}
		x := r.peek()
		if !r.at(statements...) && (x.kind != punctuation || x.char != '(') {
			return nil, false
		}
		s.Inner = x.start
		l.Note(s)
		return s, true
	}
}
