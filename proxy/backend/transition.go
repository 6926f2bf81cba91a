package backend

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// transition holds the commands that bring a connection to other settings, at most six.
type transition struct {
	mark     string // the statement that marks the connection again after a reset; empty for none
	cleans   bool   // the reset is for left state, not for the settings
	reset    bool   // COM_RESET_CONNECTION: discards variables and prepared statements; both engines keep the current database
	database string // COM_INIT_DB unless empty; after a reset, by way of detour
	set      string // a SET statement, or empty
}

func (t transition) empty() bool { return !t.reset && t.database == "" && t.set == "" }

// detour is a database that a connection enters after a reset, before its own. The reset has set properties of the current
// database, such as @@collation_database, to the server's defaults, and MariaDB doesn't re-enter the current database.
const detour = "information_schema"

// detours reports whether the transition first selects the database detour.
func (t transition) detours() bool { return t.reset && t.database != "" }

// reaches reports whether a connection with current database have can be brought to want. No command leaves a database for none.
func reaches(have string, want *Settings) bool { return have == "" || want.database != "" }

// between returns the transition from have to want. have is nil if the connection's variables are unknown. The database is a
// separate argument, because it remains known and survives a reset.
func between(have *Settings, database string, want *Settings) transition {
	var t transition
	if have != nil && !extends(want, have) && restorable(want, have) {
		return over(have, database, want)
	}
	if have == nil || !extends(want, have) {
		t.reset, have = true, atLogin
	}
	if want.database != database || t.reset {
		t.database = want.database
	}
	if t.spells() {
		anew := *have
		anew.charset = "" // forces a SET NAMES
		have = &anew
	}
	t.set = assignments(have, want)
	return t
}

// spells reports whether SET NAMES must precede the change of the database, because the server reads the database's name in
// the client's character set.
func (t transition) spells() bool {
	return strings.ContainsFunc(t.database, func(r rune) bool { return r >= utf8.RuneSelf })
}

// spelling sets UTF-8 as the client's character set.
const spelling = "SET NAMES utf8mb4"

// over is between without a reset. Variables that have sets and want doesn't name get their values of a fresh connection.
func over(have *Settings, database string, want *Settings) transition {
	var dropped []string
	kept := *have
	kept.variables = slices.DeleteFunc(slices.Clone(have.variables), func(a Assignment) bool {
		switch {
		case want.index(a.Name) >= 0:
			return false
		case slices.Contains(setByNames, a.Name):
			kept.charset = "" // forces a SET NAMES
		case a.user():
			dropped = append(dropped, a.Name+"=NULL")
		default:
			dropped = append(dropped, a.Name+"=DEFAULT")
		}
		return true
	})
	t := between(&kept, database, want)
	switch list := strings.Join(dropped, ", "); {
	case list == "":
	case t.set == "":
		t.set = "SET " + list
	default:
		t.set += ", " + list
	}
	return t
}

// invalidated returns s for a connection whose named variables may have other values, so that they are always assigned. The result
// isn't interned and must not become a connection's settings.
func (s *Settings) invalidated(names []string) *Settings {
	if len(names) == 0 {
		return s
	}
	unsure := *s
	unsure.variables = slices.Clone(s.variables)
	for _, name := range names {
		switch i := unsure.index(strings.ToLower(name)); {
		case name == "names":
			unsure.charset = ""
		case i >= 0:
			unsure.variables[i].Literal = ""
		case name == "autocommit": // settings don't contain autocommit if it is on
			unsure.variables = append(unsure.variables, Assignment{Name: name})
		}
	}
	return &unsure
}

// extends reports whether want names every variable that have sets.
func extends(want, have *Settings) bool {
	return !slices.ContainsFunc(have.variables, func(a Assignment) bool { return want.index(a.Name) < 0 })
}

// restorable reports whether SET … = DEFAULT is sure to restore every variable that have sets and want doesn't name. Then no reset
// is needed, and the prepared statements survive.
func restorable(want, have *Settings) bool {
	return !slices.ContainsFunc(have.variables, func(a Assignment) bool { return want.index(a.Name) < 0 && !byDefault[a.Name] })
}

// byDefault lists variables that start at the global value, affect no other variable, and accept DEFAULT, on both engines.
var byDefault = map[string]bool{
	"autocommit": true, "group_concat_max_len": true, "innodb_lock_wait_timeout": true, "lock_wait_timeout": true,
	"max_execution_time": true, "max_statement_time": true, "net_read_timeout": true, "net_write_timeout": true, "sql_mode": true, "sql_notes": true,
	"sql_safe_updates": true, "sql_select_limit": true, "time_zone": true,
}

// assignments builds the SET statement. want must extend have. It omits variables that both set in the same order, with nothing
// before them that may affect them. Stored code may have changed those since, and a session then sees its value.
func assignments(have, want *Settings) string {
	names := want.charset != have.charset || want.collation != have.collation
	skip := common(have.variables, want.variables, names)
	if !names && skip == len(want.variables) {
		return ""
	}
	var b strings.Builder
	separator := "SET "
	if names {
		b.WriteString("SET NAMES ")
		b.WriteString(want.charset)
		if want.collation != "" {
			b.WriteString(" COLLATE ")
			b.WriteString(want.collation)
		}
		separator = ", "
	}
	foreign := have.foreign()
	for _, a := range want.variables[skip:] {
		b.WriteString(separator)
		b.WriteString(a.Name)
		b.WriteByte('=')
		if foreign && strings.HasPrefix(a.Literal, "'") {
			b.WriteString("_utf8mb4")
		}
		b.WriteString(a.Literal)
		separator = ", "
	}
	return b.String()
}

// foreign reports whether plain text may be read in a character set other than that of SET NAMES. In one with several bytes per
// letter, servers don't recognize the words that variables accept.
func (s *Settings) foreign() bool {
	return s.index("character_set_connection") >= 0 || s.index("collation_connection") >= 0
}

// common counts how many leading assignments of b are in a, in the same order. With names, it stops at the first that SET NAMES
// sets.
func common(a, b []Assignment, names bool) int {
	for n, next := range b {
		i := slices.Index(a, next)
		if i < 0 || names && slices.Contains(setByNames, next.Name) {
			return n
		}
		a = a[i+1:]
	}
	return len(b)
}

// append appends the commands. Each is answered by an OK or ERR packet.
func (t transition) append(dst []byte) []byte {
	if t.reset {
		dst = appendText(dst, mysql.COM_RESET_CONNECTION, "")
		if t.mark != "" {
			dst = appendText(dst, mysql.COM_QUERY, t.mark)
		}
	}
	if t.detours() {
		dst = appendText(dst, mysql.COM_INIT_DB, detour)
	}
	if t.spells() {
		dst = appendText(dst, mysql.COM_QUERY, spelling)
	}
	if t.database != "" {
		dst = appendText(dst, mysql.COM_INIT_DB, t.database)
	}
	if t.set != "" {
		dst = appendText(dst, mysql.COM_QUERY, t.set)
	}
	return dst
}
