package stmt

// RoutineDefinition is CREATE, ALTER or DROP of a procedure or function.
type RoutineDefinition struct {
	Kind string // "FUNCTION" or "PROCEDURE"
	Name TableName
	// Creates: CREATE. Replaces: with OR REPLACE. IfNotExists, IfExists: with these words.
	Creates, Replaces, IfNotExists, IfExists bool
}

// DefinesRoutine reads the beginning of such a statement. ok is false for all others, and for those that begin with SET STATEMENT.
func (l *Lexed) DefinesRoutine() (d RoutineDefinition, ok bool) {
	r := lexemeReader{l, l.lexemes(maxHead + explainedWords)}
	switch {
	case r.takes("create"):
		d.Creates = true
		d.Replaces = r.takes("or", "replace")
	case !r.takes("alter") && !r.takes("drop"):
		return d, false
	}
	if r.takes("definer") {
		r.definer()
	}
	r.takes("aggregate")
	switch {
	case r.takes("function"):
		d.Kind = "FUNCTION"
	case r.takes("procedure"):
		d.Kind = "PROCEDURE"
	default:
		return d, false
	}
	if d.IfNotExists = r.takes("if", "not", "exists"); !d.IfNotExists {
		d.IfExists = r.takes("if", "exists")
	}
	d.Name, ok = r.table()
	return d, ok
}

// definer skips the name of a user or role after DEFINER, which has many forms, up to the defined object.
func (r *lexemeReader) definer() {
	for range explainedWords {
		if r.at("aggregate", "function", "procedure", "sql", "trigger", "event", "view", "package") {
			return
		}
		r.next()
	}
}
