package plan

import (
	"slices"

	"locus/router/stmt"
)

// What the parser can't read is refused, but for statements of which the first
// words say that they touch only what they name.

// passes tells whether a text that the parser can't read is such a statement.
func (u unread) passes() bool {
	rest := u.plain()[u.verb():]
	if len(rest) == 0 {
		return true // nothing, or what no server reads
	}
	verb, rest := rest[0], rest[1:]
	next := ""
	if len(rest) > 0 {
		next = rest[0]
	}
	switch verb {
	case "create", "alter", "drop":
		return definable(rest)
	case "explain", "describe", "desc":
		return explains(rest) || describes(rest)
	case "analyze":
		return next == "table" || next == "tables" || administers[next] || explains(rest)
	case "check", "repair", "optimize":
		return next == "table" || next == "tables" || next == "view" || administers[next] && len(rest) > 1 && (rest[1] == "table" || rest[1] == "tables" || rest[1] == "view")
	case "checksum", "rename", "lock":
		return next == "table" || next == "tables"
	case "begin":
		return u.compound()
	case "load":
		return next == "xml"
	case "show":
		return shows(rest)
	}
	return selfContained[verb]
}

// plain is the words with those in quotes left empty: no quoted word says what is
// done.
func (u unread) plain() []string {
	out := slices.Clone(u.bare)
	for i, w := range u.written {
		if w != "" && (w[0] == '`' || w[0] == '"') {
			out[i] = ""
		}
	}
	return out
}

var (
	// selfContained are first words of statements that reach what they name, and no
	// more.
	selfContained = words("select", "with", "table", "values", "insert", "replace", "update", "delete", "truncate", "do", "handler", "xa",
		"signal", "resignal", "call")
	administers = words("local", "no_write_to_binlog")
	// showable are what SHOW shows of what there is in a database, or of the server's
	// makers.
	showable = words("package", "function", "procedure", "columns", "fields", "index", "indexes", "keys",
		"tables", "table", "databases", "schemas", "events", "triggers", "character", "collation", "engines", "storage", "warnings", "errors", "count",
		"authors", "contributors", "locales", "privileges", "open")
	// objects are what CREATE, ALTER and DROP may be about.
	objects = words("table", "view", "trigger", "function", "procedure", "package", "event", "sequence", "index", "database", "schema")
	// before are words that may stand before those.
	before = words("or", "replace", "aggregate", "algorithm", "undefined", "merge", "temptable", "sql", "security", "invoker", "definer",
		"temporary", "unique", "fulltext", "spatial", "vector", "online", "offline", "ignore", "")
)

// shows tells SHOW of what is in a database.
func shows(rest []string) bool {
	for i, w := range rest {
		switch w {
		case "create":
			return i+1 < len(rest) && objects[rest[i+1]]
		case "full", "extended":
			continue
		}
		return showable[w]
	}
	return false
}

// definable tells whether CREATE, ALTER or DROP is about what is in a database. Of
// DEFINER = name the name is any word, and what may follow is all definable.
func definable(rest []string) bool {
	for i := 0; i < len(rest); i++ {
		switch w := rest[i]; {
		case objects[w]:
			return true
		case w == "definer":
			return slices.ContainsFunc(rest[i+1:min(len(rest), i+8)], func(w string) bool { return objects[w] })
		case !before[w]:
			return false
		}
	}
	return false
}

// describes tells DESCRIBE of a table, whose columns' names may be given by a pattern.
func describes(rest []string) bool {
	return len(rest) > 0 && len(rest) <= 3 && !slices.Contains(rest, "for")
}

// explains tells EXPLAIN of a statement, not of another connection's.
func explains(rest []string) bool {
	for _, w := range rest[:min(len(rest), 8)] {
		switch w {
		case "for":
			return false
		case "select", "with", "table", "values", "insert", "replace", "update", "delete":
			return true
		}
	}
	return false
}

// runs tells a text with statements in it, which it runs now or later.
func (u unread) runs(object string) bool {
	return object == "event" || object == "program" || u.compound()
}

// reaching gives a word by which a text reaches the server rather than its tables,
// or "".
func (u unread) reaching(program bool) string {
	plain := u.plain()
	for i, w := range plain {
		switch {
		case outside[w]:
			return w
		case !program:
		case inPrograms[w] != nil && i+1 < len(plain) && (len(inPrograms[w]) == 0 || slices.ContainsFunc(plain[i+1:min(len(plain), i+5)], func(next string) bool { return inPrograms[w][next] })):
			return w
		}
	}
	return ""
}

var (
	// outside are words of statements that write or read the server's files, or load
	// its code.
	outside = words("outfile", "dumpfile", "load_file", "soname")
	// inPrograms are first words of statements that a program must not have, by what
	// follows; nothing: whatever does.
	inPrograms = map[string]map[string]bool{
		"grant": {}, "revoke": {}, "shutdown": {}, "kill": {},
		"create": accounts, "alter": accounts, "drop": accounts, "rename": words("user"),
		"set":     words("global", "persist", "persist_only", "password", "role", "resource", "default"),
		"install": words("plugin", "component", "soname"), "uninstall": words("plugin", "component", "soname"),
		"change": words("master", "replication"), "reset": words("master", "slave", "replica", "binary", "persist"), "purge": words("binary", "master"),
		"flush": words("privileges", "hosts", "logs", "binary", "relay", "local", "no_write_to_binlog"), "start": words("slave", "replica", "group_replication", "all"),
		"stop": words("slave", "replica", "group_replication", "all"), "load": words("data", "xml"), "clone": words("local", "instance"), "import": words("table"),
	}
	accounts = words("user", "role", "server", "tablespace", "instance", "undo", "logfile", "resource")
)

// notPassed refuses a text that the parser can't read, with what is to be done
// instead.
func (u unread) notPassed(syntax *stmt.SyntaxError) *Refusal {
	plain := u.plain()[u.verb():]
	r := refuse(NotAllowed, "%s; statements that reach more than the tables that they name can't be passed on unread: connect to the shard for it", syntax.Error())
	if len(plain) > 1 && plain[0] == "kill" {
		r = refuse(NotAllowed, "KILL of a user's connections: KILL each by the number that SHOW PROCESSLIST gives")
	} else if len(plain) > 1 && (plain[0] == "grant" || plain[0] == "revoke" || plain[0] == "set" && plain[1] == "password" || slices.Contains(plain[1:min(len(plain), 4)], "user") || slices.Contains(plain[1:min(len(plain), 4)], "role")) {
		r = refuse(NotAllowed, "%s", declaredAccounts)
	}
	r.Unread = true
	return r
}

const declaredAccounts = "accounts are declared: edit users in cluster.yaml and run locus apply"
