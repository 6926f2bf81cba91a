package backend

import (
	"slices"
	"strings"
)

// Assignment sets a variable to a value, for example ("sql_mode", "'ANSI'"), ("autocommit", "0"), ("@x", "5").
//
// Name is inserted into the statement as it is, so the caller must have validated it. Literal is an SQL constant with the same
// meaning under every sql_mode and character set: a number, DEFAULT, NULL, or a text from [Quote].
type Assignment struct{ Name, Literal string }

func (a Assignment) user() bool {
	return strings.HasPrefix(a.Name, "@") && !strings.HasPrefix(a.Name, "@@")
}

// Settings is the session state of a lent connection: the current database, the character set, and assignments in the order in
// which they were made, since some of them affect the same variable.
//
// Settings are immutable and interned. Equal settings are the same pointer for as long as any holder keeps it. They are
// derived from [Default]. They are safe for concurrent use.
type Settings struct {
	database  string
	charset   string // empty only in atLogin, which means the server's default
	collation string // empty for the default of the character set, which differs between servers
	variables []Assignment

	// bare returns the same settings without user variables; nil if there are none. typed returns the same
	// settings with user variables reduced to their types; nil if there are none or if they have that form
	// already. Both are computed at the first call, because most Settings are never asked for them.
	bare, typed func() *Settings
}

// Default is the state of a fresh connection: no database, utf8mb4, and all variables at the server's global values.
var Default = intern(Settings{charset: "utf8mb4"})

// atLogin is the state after login or reset. The server chose the character set.
var atLogin = intern(Settings{})

// Database returns the current database, or "" if there is none.
func (s *Settings) Database() string { return s.database }

// Names returns the character set and collation of SET NAMES. An empty collation means the character set's default.
func (s *Settings) Names() (charset, collation string) { return s.charset, s.collation }

// Assignments lists the variables in order. The caller must not modify the slice.
func (s *Settings) Assignments() []Assignment { return s.variables }

// Lookup returns the literal assigned to a variable. name must be in lower case.
func (s *Settings) Lookup(name string) (literal string, ok bool) {
	if i := s.index(name); i >= 0 {
		return s.variables[i].Literal, true
	}
	return "", false
}

// Bare returns s without user variables.
func (s *Settings) Bare() *Settings {
	if bare := s.bare(); bare != nil {
		return bare
	}
	return s
}

// Size returns the size in bytes of the assignments.
func (s *Settings) Size() (n int) {
	for _, a := range s.variables {
		n += len(a.Name) + len(a.Literal)
	}
	return n
}

// WithDatabase returns s with another current database. As in MySQL, a session's current database becomes none, the empty
// name, only if the database is dropped.
func (s *Settings) WithDatabase(name string) *Settings {
	if name == s.database {
		return s
	}
	next := *s
	next.database = name
	return intern(next)
}

// WithNames returns s after SET NAMES. Earlier assignments to variables that SET NAMES sets are removed.
func (s *Settings) WithNames(charset, collation string) *Settings {
	next := *s
	next.charset, next.collation = strings.ToLower(charset), strings.ToLower(collation)
	next.variables = slices.DeleteFunc(slices.Clone(s.variables), func(a Assignment) bool {
		return slices.Contains(setByNames, a.Name)
	})
	return intern(next)
}

var setByNames = []string{"character_set_client", "character_set_connection", "character_set_results", "collation_connection"}

// With returns s after SET name = literal. Names are compared without case, as in MySQL.
func (s *Settings) With(name, literal string) *Settings {
	name = strings.ToLower(name)
	next := *s
	next.variables = append(s.except(name), Assignment{name, literal})
	return intern(next)
}

// Without returns s with a variable as on a fresh connection.
func (s *Settings) Without(name string) *Settings {
	next := *s
	next.variables = s.except(strings.ToLower(name))
	return intern(next)
}

// String is for logs and metrics. It contains the names of variables, but not their values, which belong to the client.
func (s *Settings) String() string {
	words := []string{"database=" + s.database, "names=" + s.charset}
	if s.collation != "" {
		words = append(words, "collate="+s.collation)
	}
	for _, a := range s.variables {
		words = append(words, a.Name)
	}
	return strings.Join(words, " ")
}

// ReadAs returns s with the parts that determine how a text is interpreted taken from at, the settings of a statement's
// PREPARE. These are the current database (if at has one), the character set and sql_mode. It returns s itself if they agree.
func (s *Settings) ReadAs(at *Settings) *Settings {
	if s == at {
		return s
	}
	next := *s
	if at.database != "" {
		next.database = at.database
	}
	if !s.agrees(at) {
		next.charset, next.collation = at.charset, at.collation
		next.variables = slices.DeleteFunc(slices.Clone(s.variables), reads)
		for _, a := range at.variables {
			if reads(a) {
				next.variables = append(next.variables, a)
			}
		}
	} else if next.database == s.database {
		return s
	}
	return intern(next)
}

// Reading returns only the part of s that determines how a text is interpreted. It is kept with a prepared statement.
func (s *Settings) Reading() *Settings {
	if !slices.ContainsFunc(s.variables, func(a Assignment) bool { return !reads(a) }) {
		return s
	}
	next := *s
	next.variables = slices.DeleteFunc(slices.Clone(s.variables), func(a Assignment) bool { return !reads(a) })
	return intern(next)
}

// reads reports whether a variable determines how a text is interpreted.
func reads(a Assignment) bool { return a.Name == "sql_mode" || slices.Contains(setByNames, a.Name) }

// agrees reports whether two settings have the same values of such variables.
func (s *Settings) agrees(other *Settings) bool {
	return s.same(other, "sql_mode") && s.SameNames(other)
}

// SameNames reports whether two settings have the same character sets and collations.
func (s *Settings) SameNames(other *Settings) bool {
	return s.charset == other.charset && s.collation == other.collation && s.same(other, setByNames...)
}

// same reports whether two settings have the same values of the named variables.
func (s *Settings) same(other *Settings, names ...string) bool {
	for _, name := range names {
		i, j := s.index(name), other.index(name)
		if (i < 0) != (j < 0) || i >= 0 && s.variables[i].Literal != other.variables[j].Literal {
			return false
		}
	}
	return true
}

// parsing returns the part of s that determines the meaning of a prepared text. MySQL keeps the types that user variables have
// at PREPARE.
func (s *Settings) parsing(sql string) *Settings {
	switch {
	case s.bare() == nil:
		return s
	case !namesUserVariable(sql):
		return s.bare()
	case s.typed() == nil:
		return s
	}
	return s.typed()
}

// namesUserVariable reports whether a text contains a single @, even in a literal.
func namesUserVariable(sql string) bool {
	for {
		at := strings.IndexByte(sql, '@')
		if at < 0 {
			return false
		}
		rest := strings.TrimLeft(sql[at:], "@")
		if len(sql)-at-len(rest) != 2 {
			return true
		}
		sql = rest
	}
}

// typeOf returns one literal that stands for all values of a user variable's type.
func typeOf(literal string) string {
	if open, end := strings.IndexByte(literal, '\''), strings.LastIndexByte(literal, '\''); end > open {
		return literal[:open+1] + literal[end:]
	}
	const signed = 18 // digits of a number that may not be unsigned
	switch number := strings.TrimPrefix(literal, "-"); {
	case strings.Trim(number, "0123456789.eE+-") != "":
		return literal
	case strings.ContainsAny(number, "eE"):
		return "0e0"
	case strings.Contains(number, "."):
		return "0.0"
	case len(number) <= signed:
		return "0"
	}
	return literal
}

func (s *Settings) index(name string) int {
	return slices.IndexFunc(s.variables, func(a Assignment) bool { return a.Name == name })
}

func (s *Settings) except(name string) []Assignment {
	return slices.DeleteFunc(slices.Clone(s.variables), func(a Assignment) bool { return a.Name == name })
}
