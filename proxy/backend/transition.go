package backend

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// transition is what a connection is sent so that it carries other settings: at most six commands.
type transition struct {
	mark     string // after a reset, the statement that marks the connection anew, unless empty
	cleans   bool   // the reset is for what was left, and not for the settings
	reset    bool   // COM_RESET_CONNECTION: variables and prepared statements go; the current database stays, on both engines
	database string // COM_INIT_DB, unless empty; after a reset by a detour
	set      string // one SET statement, unless empty
}

func (t transition) empty() bool { return !t.reset && t.database == "" && t.set == "" }

// detour is where a connection goes after a reset before it comes to its database. The reset has set what a connection knows of
// its current database, @@collation_database for one, to the server's defaults, and MariaDB does not come to where it is.
const detour = "information_schema"

// detours reports whether that is on the way.
func (t transition) detours() bool { return t.reset && t.database != "" }

// reaches reports whether a connection whose current database is have can be brought to want: no command leaves a database.
func reaches(have string, want *Settings) bool { return have == "" || want.database != "" }

// between works out how to get from have to want; have is nil if the connection's variables are unknown. The database is
// passed apart, since it stays known and survives a reset.
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
		anew.charset = "" // SET NAMES anew
		have = &anew
	}
	t.set = assignments(have, want)
	return t
}

// spells reports whether the database's name, which is in UTF-8, must be announced as such: servers read it as a client's text.
func (t transition) spells() bool {
	return strings.ContainsFunc(t.database, func(r rune) bool { return r >= utf8.RuneSelf })
}

// spelling announces it.
const spelling = "SET NAMES utf8mb4"

// over is between without a reset: what have sets and want doesn't name is given the value that it has on a fresh connection.
func over(have *Settings, database string, want *Settings) transition {
	var dropped []string
	kept := *have
	kept.variables = slices.DeleteFunc(slices.Clone(have.variables), func(a Assignment) bool {
		switch {
		case want.index(a.Name) >= 0:
			return false
		case slices.Contains(setByNames, a.Name):
			kept.charset = "" // SET NAMES anew
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

// invalidated is s for a connection that may have other values of the variables named, so that they are assigned whatever is
// wanted. It is no connection's settings, and not interned.
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
		case name == "autocommit": // on, it is among no settings
			unsure.variables = append(unsure.variables, Assignment{Name: name})
		}
	}
	return &unsure
}

// extends reports whether setting what want names leaves nothing over of what have set.
func extends(want, have *Settings) bool {
	return !slices.ContainsFunc(have.variables, func(a Assignment) bool { return want.index(a.Name) < 0 })
}

// restorable reports whether all that have sets beyond what want names has its value of a fresh connection by SET … = DEFAULT, for
// certain: then no reset is needed, with which the prepared statements would go.
func restorable(want, have *Settings) bool {
	return !slices.ContainsFunc(have.variables, func(a Assignment) bool { return want.index(a.Name) < 0 && !byDefault[a.Name] })
}

// byDefault are variables, of both engines, to which a session begins with the global value, that touch no other one, and that
// take DEFAULT.
var byDefault = map[string]bool{
	"autocommit": true, "group_concat_max_len": true, "innodb_lock_wait_timeout": true, "lock_wait_timeout": true,
	"max_execution_time": true, "max_statement_time": true, "net_read_timeout": true, "net_write_timeout": true, "sql_mode": true, "sql_notes": true,
	"sql_safe_updates": true, "sql_select_limit": true, "time_zone": true,
}

// assignments writes the SET statement, given that want extends have. Variables that both carry in the same order, with nothing
// that may touch them set before, are left out: stored code may have set them since, which a session then goes on seeing.
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

// foreign reports whether plain text may be taken for another character set than that of SET NAMES: in one of several bytes to
// every letter, servers don't find the words that variables take.
func (s *Settings) foreign() bool {
	return s.index("character_set_connection") >= 0 || s.index("collation_connection") >= 0
}

// common counts how many of b are among a, in the same order. With names, those that SET NAMES sets end it.
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

// append appends the commands; each is answered with an OK or an ERR packet.
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
