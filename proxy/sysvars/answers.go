package sysvars

import (
	"context"
	"strconv"
	"strings"
	"time"

	"locus/proxy/backend"
	"locus/router/stmt"
)

// Answers contains the values from which a session's questions about itself and its server are answered: the session's state,
// and facts about its login and the process.
type Answers struct {
	*Evaluator
	ID           uint32 // of the session
	User         string
	Host         string // of the client
	Port         string // port to which the client connected
	Version      string // the proxy's version, as clients see it
	Hostname     string // of the machine
	MaxStatement int    // the longest statement, in bytes
	Timeouts     Timeouts
	Bounded      bool // the user may not see everything
	Admin        bool // a Bounded user may still read the schema locus
	Status       func() Status
	Processes    func() []Process
	Virtual      Virtual         // nil if there are no tables of the schema locus
	Ctx          context.Context // for reading those tables
	FirstUnwell  bool            // the first shard's server is not healthy, so it is not asked about other sessions
}

// Timeouts contains the process's limits of waits for a client. 0 means that there is none. Then the shard's value is shown.
type Timeouts struct{ Idle, Write, Read time.Duration }

// question describes how a statement asks for a variable.
type question struct {
	name   string
	global bool
	shard  string // the expression for the shard's own value
}

// functions contains the SQL functions whose result depends on the session, and their values as SQL.
var functions = map[string]func(*Answers) string{
	"connection_id()":     func(a *Answers) string { return utoa(a.ID) },
	"current_user()":      func(a *Answers) string { return backend.Quote(a.User + "@%") },
	"found_rows()":        func(a *Answers) string { return utoa(a.FoundRows) },
	"last_insert_id()":    func(a *Answers) string { return utoa(a.InsertID) },
	"release_all_locks()": func(*Answers) string { return "(CAST(RELEASE_ALL_LOCKS() AS SIGNED) - 1)" }, // minus the lock that marks the connection as the proxy's
	"row_count()":         func(a *Answers) string { return strconv.FormatInt(a.RowCount, 10) },
	"session_user()":      (*Answers).account,
	"system_user()":       (*Answers).account,
	"user()":              (*Answers).account,
	"version()":           func(a *Answers) string { return backend.Quote(a.Version) },
}

func (a *Answers) account() string { return backend.Quote(a.User + "@" + a.Host) }

// Owned contains the names under which a statement asks for what the session answers itself (stmt.Owned, stmt.Shown). The text of such a
// statement is rewritten.
var Owned = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.SplitSeq("is_used_lock(),table processlist,table session_variables,table global_variables,"+
		"table information_schema.tables,table information_schema.columns,"+
		"show variables,show status,show processlist,show grants,show tables,show table status,show columns,show create table,show index,"+
		"set last_insert_id(),set @@last_insert_id,set @@identity", ",") { // SET gets the value that a shard computes, and no shard is sent the ID first
		names[name] = true
	}
	for name := range functions {
		names[name] = true
	}
	delete(names, "last_insert_id()") // the shard is sent the ID first
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

// owned reports whether the proxy's value replaces the variable in a statement's text.
func (v variable) owned() bool {
	return v.class == ReadOnly || v.class == Ignored || v.path || v.sql != nil && v.class != Answered || v.ours
}

// ownedValue returns the SQL that replaces a place of a text, or "" if the text stays.
func (a *Answers) ownedValue(o stmt.Owned) (sql string) {
	if is := functions[o.Name]; is != nil {
		return is(a)
	}
	if name, is := strings.CutPrefix(o.Name, "@@"); is {
		return a.variable(question{name: name, global: o.Global, shard: "@@global." + name})
	}
	return ""
}

// variable returns the value of a system variable as SQL, or "" if a shard's value applies.
func (a *Answers) variable(q question) (sql string) {
	switch row := variables[q.name]; {
	case row.path && a.Bounded:
		return "''"
	case row.sql != nil:
		return row.sql(a, q)
	case q.global:
		return ""
	}
	return a.ignored[q.name]
}

func connectionID(a *Answers, _ question) string   { return utoa(a.ID) }
func errorCount(a *Answers, _ question) string     { return strconv.Itoa(a.errors()) }
func hostname(a *Answers, _ question) string       { return backend.Quote(a.Hostname) }
func insertID(a *Answers, _ question) string       { return utoa(a.InsertID) }
func port(a *Answers, _ question) string           { return a.Port }
func version(a *Answers, _ question) string        { return backend.Quote(a.Version) }
func versionComment(_ *Answers, q question) string { return "CONCAT(" + q.shard + ", ' (locus)')" }
func warningCount(a *Answers, _ question) string   { return strconv.Itoa(len(a.Conditions)) }

// gtidMode returns OFF, because the positions of one shard are no positions of the cluster. It returns "" if the servers have no such variable.
func gtidMode(a *Answers, q question) string {
	if !a.flavor().HasVariable(q.name) {
		return ""
	}
	return "'OFF'"
}

func maxAllowedPacket(a *Answers, q question) string {
	return "CAST(LEAST(" + q.shard + " + 0, " + strconv.Itoa(a.MaxStatement) + ") AS UNSIGNED)"
}

// timeout returns the value that the session has set, or the process's limit. It returns "" if there is neither.
func timeout(a *Answers, q question) string {
	if set, is := a.ignored[q.name]; is && !q.global {
		return set
	}
	limit := map[string]time.Duration{waitTimeout: a.Timeouts.Idle, netWriteTimeout: a.Timeouts.Write, netReadTimeout: a.Timeouts.Read}[q.name]
	if limit <= 0 {
		return ""
	}
	return strconv.Itoa(int(max(limit.Round(time.Second), time.Second).Seconds()))
}

func contextText(a *Answers, q question) string {
	if q.global {
		return "''"
	}
	return backend.Quote(a.Context.text)
}

func partial(a *Answers, q question) string {
	if a.Partial && !q.global {
		return "'on'"
	}
	return "'off'"
}

func shardNamed(a *Answers, q question) string {
	if q.global {
		return "''"
	}
	return backend.Quote(string(a.Shard))
}
