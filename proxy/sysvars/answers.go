package sysvars

import (
	"context"
	"strconv"
	"strings"
	"time"

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
	Timeouts     Timeouts
	Bounded      bool // the user may not see everything
	Admin        bool // but for what the cluster knows of itself
	Status       func() Status
	Processes    func() []Process
	Virtual      Virtual         // nil: there are no tables of the schema locus
	Ctx          context.Context // of their reading
	FirstUnwell  bool            // the first shard's server: it is not asked what sessions do
}

// Timeouts are the process's limits of waits for a client. 0: none, and the shard's value is shown.
type Timeouts struct{ Idle, Write, Read time.Duration }

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
		"table information_schema.tables,table information_schema.columns,"+
		"show variables,show status,show processlist,show grants,show tables,show table status,show columns,show create table,show index,"+
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

// of gives what a place of a text is replaced with; empty: it stays.
func (a *Answers) of(o stmt.Owned) (sql string) {
	if is := functions[o.Name]; is != nil {
		return is(a)
	}
	if name, is := strings.CutPrefix(o.Name, "@@"); is {
		return a.variable(question{name: name, global: o.Global, shard: "@@global." + name})
	}
	return ""
}

// variable gives a system variable's value; empty: that of a shard.
func (a *Answers) variable(q question) (sql string) {
	switch row := variables[q.name]; {
	case row.path && a.Bounded:
		return "''"
	case row.is != nil:
		return row.is(a, q)
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

// gtidMode is off: one shard's positions say nothing of the cluster.
func gtidMode(a *Answers, q question) string {
	if !a.flavor().HasVariable(q.name) {
		return ""
	}
	return "'OFF'"
}

func maxAllowedPacket(a *Answers, q question) string {
	return "CAST(LEAST(" + q.shard + " + 0, " + strconv.Itoa(a.MaxStatement) + ") AS UNSIGNED)"
}

// timeout gives what the session has set, or the process's limit.
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
