package sysvars

import (
	"context"
	"strconv"
	"strings"

	"locus/proxy/backend"
	"locus/router/stmt"
)

// Answers are what a session's questions about itself and its server are answered from: its state, and facts of its login and of
// the process.
type Answers struct {
	*State
	ID           uint32 // of the session
	User         string
	Host         string // of the client
	Port         string // that it came to
	Version      string // what the proxy calls itself
	Hostname     string // of the machine
	MaxStatement int    // in bytes
	Bounded      bool   // the user may not see everything
	Admin        bool   // but for what the cluster knows of itself
	Status       func() Status
	Processes    func() []Process
	Virtual      Virtual         // nil: there are no tables of the schema locus
	Ctx          context.Context // of their reading
}

// question is how a variable is asked for.
type question struct {
	name   string
	global bool
	shard  string // how the shard's own value is written
}

// functions are those that speak of the session.
var functions = map[string]func(*Answers) string{
	"connection_id()":     func(a *Answers) string { return utoa(a.ID) },
	"current_user()":      func(a *Answers) string { return backend.Quote(a.User + "@%") },
	"found_rows()":        func(a *Answers) string { return utoa(a.FoundRows) },
	"last_insert_id()":    func(a *Answers) string { return utoa(a.InsertID) },
	"release_all_locks()": func(*Answers) string { return "(CAST(RELEASE_ALL_LOCKS() AS SIGNED) - 1)" }, // but for the one that marks the connection as ours
	"row_count()":         func(a *Answers) string { return strconv.FormatInt(a.RowCount, 10) },
	"session_user()":      (*Answers).account,
	"system_user()":       (*Answers).account,
	"user()":              (*Answers).account,
	"version()":           func(a *Answers) string { return backend.Quote(a.Version) },
}

func (a *Answers) account() string { return backend.Quote(a.User + "@" + a.Host) }

// Owned are the names under which a statement asks for what the session answers itself (stmt.Owned, stmt.Shown). The texts of
// those that ask are rewritten.
var Owned = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.SplitSeq("is_used_lock(),table processlist,table session_variables,table global_variables,"+
		"show variables,show status,show processlist,show grants,show tables,show columns,"+
		"set last_insert_id(),set @@last_insert_id,set @@identity", ",") { // SET takes what a shard computes, and no shard is told of the ID first
		names[name] = true
	}
	for name := range functions {
		names[name] = true
	}
	delete(names, "last_insert_id()") // the shard is told it first
	for table := range stmt.OwnTables {
		names["table "+stmt.Own+"."+table] = true
	}
	for name, row := range variables {
		if row.owned() {
			names["@@"+name] = true
		}
	}
	return names
}()

// owned tells whether a shard is not asked for the variable as it is.
func (v variable) owned() bool {
	return v.class == ReadOnly || v.class == Ignored || v.path || v.is != nil && v.class != Answered || v.ours
}

// Of gives what a place of a text is replaced with; ok tells that it is replaced at all.
func (a *Answers) Of(o stmt.Owned) (sql string, ok bool) {
	if is := functions[o.Name]; is != nil {
		return is(a), true
	}
	name, ok := strings.CutPrefix(o.Name, "@@")
	if !ok {
		return "", false
	}
	return a.variable(question{name: name, global: o.Global, shard: "@@global." + name})
}

// variable gives a system variable's value.
func (a *Answers) variable(q question) (sql string, ok bool) {
	row := variables[q.name]
	if row.path && a.Bounded {
		return "''", true
	}
	if row.is != nil {
		return row.is(a, q)
	}
	sql, ok = a.ignored[q.name]
	return sql, ok && !q.global
}

func connectionID(a *Answers, _ question) (string, bool) { return utoa(a.ID), true }
func errorCount(a *Answers, _ question) (string, bool)   { return strconv.Itoa(a.errors()), true }
func hostname(a *Answers, _ question) (string, bool)     { return backend.Quote(a.Hostname), true }
func insertID(a *Answers, _ question) (string, bool)     { return utoa(a.InsertID), true }
func port(a *Answers, _ question) (string, bool)         { return a.Port, true }
func version(a *Answers, _ question) (string, bool)      { return backend.Quote(a.Version), true }
func warningCount(a *Answers, _ question) (string, bool) {
	return strconv.Itoa(len(a.Conditions)), true
}

func versionComment(_ *Answers, q question) (string, bool) {
	return "CONCAT(" + q.shard + ", ' (locus)')", true
}

// gtidMode is off: one shard's positions say nothing of the cluster.
func gtidMode(a *Answers, q question) (string, bool) { return "'OFF'", a.flavor().HasVariable(q.name) }

func maxAllowedPacket(a *Answers, q question) (string, bool) {
	return "CAST(LEAST(" + q.shard + " + 0, " + strconv.Itoa(a.MaxStatement) + ") AS UNSIGNED)", true
}

func contextText(a *Answers, q question) (string, bool) {
	if q.global {
		return "''", true
	}
	return backend.Quote(a.Context.text), true
}

func read(a *Answers, q question) (string, bool) {
	if a.Late && !q.global {
		return "'replica'", true
	}
	return "'primary'", true
}
