package stmt

// TriggerDefinition is CREATE or DROP of a trigger.
type TriggerDefinition struct {
	Name TableName
	// Creates: CREATE, of a trigger on the table On. DROP doesn't name the table.
	Creates bool
	On      TableName
	// IfExists: DROP with these words.
	IfExists bool
}

// DefinesTrigger reads the beginning of such a statement. ok is false for all others, and for those that begin with SET STATEMENT.
func (l *Lexed) DefinesTrigger() (d TriggerDefinition, ok bool) {
	r := lexemeReader{l, l.lexemes(mostOfTrigger)}
	switch {
	case r.takes("create"):
		d.Creates = true
		r.takes("or", "replace")
	case !r.takes("drop"):
		return d, false
	}
	if r.takes("definer") {
		r.definer()
	}
	if !r.takes("trigger") {
		return d, false
	}
	if !r.takes("if", "not", "exists") {
		d.IfExists = r.takes("if", "exists")
	}
	if d.Name, ok = r.table(); !ok || !d.Creates {
		return d, ok
	}
	for !r.takes("on") { // after the events, which may name columns
		if r.next().kind == noLexeme {
			return d, false
		}
	}
	d.On, ok = r.table()
	return d, ok
}

// mostOfTrigger bounds the lexemes up to the table's name. UPDATE OF may name many columns.
const mostOfTrigger = 256
