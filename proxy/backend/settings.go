package backend

import (
	"slices"
	"strings"
)

// Assignment gives a variable a value: ("sql_mode", "'ANSI'"), ("autocommit", "0"), ("@x", "5").
//
// Name goes into the statement as it is, so the caller has made sure that it is a name. Literal is a constant of SQL that
// reads the same under every sql_mode and character set: a number, DEFAULT, NULL, or a text as [Quote] writes it.
type Assignment struct{ Name, Literal string }

func (a Assignment) user() bool {
	return strings.HasPrefix(a.Name, "@") && !strings.HasPrefix(a.Name, "@@")
}

// Settings is the session state that a connection carries while it is lent: the current database, the character set, and
// assignments in the order in which they were made, since some of them touch the same variable.
//
// Settings are immutable and interned: equal settings are the same pointer for as long as anybody holds it. They are made
// from [Default]. All methods may be called concurrently.
type Settings struct {
	database  string
	charset   string // empty only in atLogin: whatever the server's default is
	collation string // empty: the default one of the character set, which differs between servers
	variables []Assignment

	bare  *Settings // the same without user variables; nil if there are none
	typed *Settings // the same with the types of user variables alone; nil if there are none, or it is so itself
}

// Default is the state of a fresh connection: no database, utf8mb4, every variable as the server's global one.
var Default = intern(Settings{charset: "utf8mb4"})

// atLogin is the state after login or reset: the character set is the server's choice.
var atLogin = intern(Settings{})

// Database is the current database; empty: none.
func (s *Settings) Database() string { return s.database }

// Names is the character set and collation as in SET NAMES; an empty collation is the character set's default.
func (s *Settings) Names() (charset, collation string) { return s.charset, s.collation }

// Assignments lists the variables in order. The caller doesn't change them.
func (s *Settings) Assignments() []Assignment { return s.variables }

// Lookup gives the literal assigned to a variable, whose name is in lower case.
func (s *Settings) Lookup(name string) (literal string, ok bool) {
	if i := s.index(name); i >= 0 {
		return s.variables[i].Literal, true
	}
	return "", false
}

// Bare is s without user variables.
func (s *Settings) Bare() *Settings {
	if s.bare != nil {
		return s.bare
	}
	return s
}

// Size is what the assigned values hold, in bytes.
func (s *Settings) Size() (n int) {
	for _, a := range s.variables {
		n += len(a.Name) + len(a.Literal)
	}
	return n
}

// WithDatabase is s with another current database. A session that has one goes back to none, the empty
// name, only when the database is dropped, as in MySQL.
func (s *Settings) WithDatabase(name string) *Settings {
	if name == s.database {
		return s
	}
	next := *s
	next.database = name
	return intern(next)
}

// WithNames is s after SET NAMES: earlier assignments to the variables that SET NAMES sets are gone.
func (s *Settings) WithNames(charset, collation string) *Settings {
	next := *s
	next.charset, next.collation = strings.ToLower(charset), strings.ToLower(collation)
	next.variables = slices.DeleteFunc(slices.Clone(s.variables), func(a Assignment) bool {
		return slices.Contains(setByNames, a.Name)
	})
	return intern(next)
}

var setByNames = []string{"character_set_client", "character_set_connection", "character_set_results", "collation_connection"}

// With is s after SET name = literal. Names are compared without case, as MySQL does for both kinds of variables.
func (s *Settings) With(name, literal string) *Settings {
	name = strings.ToLower(name)
	next := *s
	next.variables = append(s.except(name), Assignment{name, literal})
	return intern(next)
}

// Without is s with a variable as on a fresh connection.
func (s *Settings) Without(name string) *Settings {
	next := *s
	next.variables = s.except(strings.ToLower(name))
	return intern(next)
}

// String is for logs and metrics: names of variables, no values, which are the client's.
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

// ReadAs is s with all that decides what a text means as in a statement's PREPARE:
// the current database, if there was one, the character set and sql_mode. It is s
// itself where they agree.
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

// Reading is what of s decides what a text means, and no more: what is kept with a
// prepared statement.
func (s *Settings) Reading() *Settings {
	if !slices.ContainsFunc(s.variables, func(a Assignment) bool { return !reads(a) }) {
		return s
	}
	next := *s
	next.variables = slices.DeleteFunc(slices.Clone(s.variables), func(a Assignment) bool { return !reads(a) })
	return intern(next)
}

// reads tells a variable that decides what a text means.
func reads(a Assignment) bool { return a.Name == "sql_mode" || slices.Contains(setByNames, a.Name) }

// agrees tells whether two settings give such variables the same values.
func (s *Settings) agrees(other *Settings) bool {
	return s.same(other, "sql_mode") && s.SameNames(other)
}

// SameNames tells whether two settings have the same character sets and collations.
func (s *Settings) SameNames(other *Settings) bool {
	return s.charset == other.charset && s.collation == other.collation && s.same(other, setByNames...)
}

// same tells whether two settings give variables the same values.
func (s *Settings) same(other *Settings, names ...string) bool {
	for _, name := range names {
		i, j := s.index(name), other.index(name)
		if (i < 0) != (j < 0) || i >= 0 && s.variables[i].Literal != other.variables[j].Literal {
			return false
		}
	}
	return true
}

// parsing is the part of s that decides what a prepared text means. MySQL keeps the types that user variables have at PREPARE.
func (s *Settings) parsing(sql string) *Settings {
	switch {
	case s.bare == nil:
		return s
	case !namesUserVariable(sql):
		return s.bare
	case s.typed == nil:
		return s
	}
	return s.typed
}

// namesUserVariable tells a text with an @ that stands alone, be it in a literal.
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

// typeOf gives one literal for all that have the type of a user variable's.
func typeOf(literal string) string {
	if open, end := strings.IndexByte(literal, '\''), strings.LastIndexByte(literal, '\''); end > open {
		return literal[:open+1] + literal[end:]
	}
	const signed = 18 // digits that are no unsigned number for certain
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
