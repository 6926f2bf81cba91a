package stmt

import "math"

// Maintained returns the tables of ANALYZE, CHECK, CHECKSUM, OPTIMIZE or REPAIR TABLE. It ignores options behind their
// names. It returns nil for other statements.
func Maintained(l *Lexed) (names []TableName) {
	if l.Err != nil {
		return nil
	}
	r := lexemeReader{l: l, list: l.lexemes(math.MaxInt)}
	if !r.at("analyze", "check", "checksum", "optimize", "repair") {
		return nil
	}
	r.next()
	if x := r.peek(); r.at("local") || x.kind == bareWord && lower(string(l.Text[x.start:x.end])) == "no_write_to_binlog" {
		r.next()
	}
	if !r.takes("table") && !r.takes("tables") {
		return nil
	}
	for {
		t, ok := r.table()
		if !ok {
			return nil
		}
		if names = append(names, t); !r.takesChar(',') {
			return names
		}
	}
}
