package stmt

import "strings"

// Opening is the contents of BEGIN or START TRANSACTION.
type Opening struct {
	Access   Access
	Snapshot bool // WITH CONSISTENT SNAPSHOT
}

// Access is READ ONLY or READ WRITE.
type Access uint8

const (
	AnyAccess Access = iota
	ReadOnly
	ReadWrite
)

// String returns the clause as written.
func (a Access) String() string { return [...]string{"", "READ ONLY", "READ WRITE"}[a] }

// String returns the statement in canonical form.
func (o Opening) String() string {
	switch {
	case o.Snapshot && o.Access == AnyAccess:
		return "START TRANSACTION WITH CONSISTENT SNAPSHOT"
	case o.Snapshot:
		return "START TRANSACTION WITH CONSISTENT SNAPSHOT, " + o.Access.String()
	case o.Access != AnyAccess:
		return "START TRANSACTION " + o.Access.String()
	}
	return "BEGIN"
}

// Characteristic is a transaction characteristic assigned by SET: the isolation level, or read only.
type Characteristic struct {
	What string // "isolation" or "read_only"
	// Next reports whether it applies only to the next transaction, rather than to all later ones.
	Next bool
	// Clause is the characteristic as in SET TRANSACTION. For a characteristic of all later transactions, it is the current
	// transaction's, because shards that join the transaction must keep it. It is empty for none.
	Clause string
}

// Mark is SAVEPOINT, ROLLBACK TO or RELEASE SAVEPOINT.
type Mark struct {
	Verb string // "savepoint", "rollback", "release"
	Name string
}

// String returns the statement in canonical form.
func (m Mark) String() string {
	words := map[string]string{"savepoint": "SAVEPOINT ", "rollback": "ROLLBACK TO SAVEPOINT ", "release": "RELEASE SAVEPOINT "}
	return words[m.Verb] + "`" + strings.ReplaceAll(m.Name, "`", "``") + "`"
}

// readOpening reads the forms of START TRANSACTION that the parser doesn't support.
func readOpening(l *Lexed) (*Statement, bool) {
	r := lexemeReader{l: l, list: l.lexemes(maxHead)}
	if !r.at("begin", "start") {
		return nil, false
	}
	s := &Statement{Kind: Begin, Counter: counter("begin"), Facts: Facts{Verb: r.verb()}}
	if s.Opening = r.opening(); s.Opening == nil {
		return nil, false
	}
	return s, true
}

// opening reads BEGIN and START TRANSACTION. It returns nil for forms that no server accepts.
func (r *lexemeReader) opening() *Opening {
	o := &Opening{}
	if r.takes("begin") {
		r.takes("work")
		return whole(r, o)
	}
	if !r.takes("start", "transaction") {
		return nil
	}
	for first := true; len(r.list) > 0; first = false {
		switch {
		case !first && !r.takesChar(','):
			return nil
		case !o.Snapshot && r.takes("with", "consistent", "snapshot"):
			o.Snapshot = true
		case o.Access == AnyAccess && r.takes("read", "only"):
			o.Access = ReadOnly
		case o.Access == AnyAccess && r.takes("read", "write"):
			o.Access = ReadWrite
		default:
			return nil
		}
	}
	return o
}

// mark reads a statement about savepoints.
func (r *lexemeReader) mark() *Mark {
	m := &Mark{}
	switch {
	case r.takes("savepoint"):
		m.Verb = "savepoint"
	case r.takes("release", "savepoint"):
		m.Verb = "release"
	case r.takes("rollback"):
		m.Verb = "rollback"
		r.takes("work")
		if !r.takes("to") {
			return nil
		}
		if len(r.list) > 1 {
			r.takes("savepoint")
		}
	}
	var ok bool
	if m.Name, ok = r.name(); !ok || m.Verb == "" {
		return nil
	}
	return whole(r, m)
}
