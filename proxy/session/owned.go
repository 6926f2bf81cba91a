package session

import (
	"crypto/tls"
	"net"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/compressed"
	"locus/router/stmt"
)

// owned are the names under which a statement asks for what the session answers
// itself (stmt.Owned, stmt.Shown). The texts of those that ask are rewritten.
var owned = func() map[string]bool {
	names := map[string]bool{}
	for _, name := range []string{
		"version()", "connection_id()", "found_rows()", "row_count()", "user()", "session_user()", "system_user()", "current_user()", "release_all_locks()", "is_used_lock()",
		"@@pseudo_thread_id", "@@locus_context", "@@locus_read", "table processlist", "table session_variables", "table global_variables",
		"show variables", "show status", "show processlist", "show grants", "show tables", "show columns",
		// SET takes what a shard computes, and no shard is told of the ID first.
		"set last_insert_id()", "set @@last_insert_id", "set @@identity",
	} {
		names[name] = true
	}
	for table := range stmt.OwnTables {
		names["table "+stmt.Own+"."+table] = true
	}
	for name, class := range variableClasses {
		if class == readOnly || class == ignored {
			names["@@"+name] = true
		}
	}
	for name := range paths {
		names["@@"+name] = true
	}
	return names
}()

// ownAnswer gives what a place of a text is replaced with; ok tells that it is
// replaced at all.
func (s *Session) ownAnswer(o stmt.Owned) (sql string, ok bool) {
	switch o.Name {
	case "version()":
		return backend.Quote(s.Version()), true
	case "connection_id()", "@@pseudo_thread_id":
		return uitoa(uint64(s.id)), true
	case "found_rows()":
		return strconv.FormatUint(s.foundRows, 10), true
	case "row_count()":
		return strconv.FormatInt(s.rowCount, 10), true
	case "user()", "session_user()", "system_user()":
		return backend.Quote(s.user + "@" + hostOf(s.client.NetConn().RemoteAddr())), true
	case "current_user()":
		return backend.Quote(s.user + "@%"), true
	case "release_all_locks()": // but for the one that marks the connection as ours
		return "(CAST(RELEASE_ALL_LOCKS() AS SIGNED) - 1)", true
	case "last_insert_id()", "@@last_insert_id", "@@identity":
		return uitoa(s.insertID), true
	}
	if name, ok := strings.CutPrefix(o.Name, "@@"); ok {
		return s.ownVariable(name, o.Global, "@@global."+name)
	}
	return "", false
}

// ownVariable gives a system variable's value; shard is how the shard's own
// value is written.
func (s *Session) ownVariable(name string, global bool, shard string) (sql string, ok bool) {
	switch name {
	case "version":
		return backend.Quote(s.Version()), true
	case "version_comment":
		return "CONCAT(" + shard + ", ' (locus)')", true
	case "gtid_mode": // one shard's positions say nothing of the cluster
		if s.flavor().HasVariable(name) {
			return "'OFF'", true
		}
	case "hostname":
		return backend.Quote(s.Hostname), true
	case "port":
		return portOf(s.client.NetConn().LocalAddr()), true
	case "max_allowed_packet":
		return "CAST(LEAST(" + shard + " + 0, " + strconv.Itoa(s.MaxStatement) + ") AS UNSIGNED)", true
	case "pseudo_thread_id":
		return uitoa(uint64(s.id)), true
	case "warning_count":
		return strconv.Itoa(len(s.warnings)), true
	case "locus_context":
		if global {
			return "''", true
		}
		return backend.Quote(s.context.text), true
	case "locus_read":
		if s.late && !global {
			return "'replica'", true
		}
		return "'primary'", true
	case "error_count":
		return strconv.Itoa(s.errorCount()), true
	}
	if paths[name] && s.hidesPaths() {
		return "''", true
	}
	if kept, has := s.kept[name]; has && !global {
		return kept, true
	}
	return "", false
}

// keepIgnored remembers a variable that is ignored.
func keepIgnored(next *view, v stmt.Variable, literal string) error {
	number := strings.HasSuffix(v.Name, "_timeout") || strings.HasPrefix(v.Name, "net_")
	if _, err := strconv.ParseUint(literal, 10, 32); number && err != nil && literal != "DEFAULT" {
		return fail(mysql.ER_WRONG_TYPE_FOR_VAR, "42000", "Incorrect argument type to variable '%s'", v.Name)
	}
	kept := make(map[string]string, len(next.kept)+1)
	for name, value := range next.kept {
		kept[name] = value
	}
	kept[v.Name] = literal
	if literal == "DEFAULT" {
		delete(kept, v.Name)
	}
	next.kept = kept
	return nil
}

func portOf(a net.Addr) string {
	if _, port, err := net.SplitHostPort(a.String()); err == nil {
		return port
	}
	return "0"
}

// hostOf is where a client comes from, as MySQL writes it without looking up
// names.
func hostOf(a net.Addr) string {
	if host, _, err := net.SplitHostPort(a.String()); err == nil {
		return host
	}
	return "localhost"
}

// cipher is what the client's TLS has settled on; empty without TLS.
func (s *Session) cipher() (version, suite string) {
	under := s.client.NetConn()
	if c, ok := under.(*compressed.Conn); ok {
		under = c.NetConn()
	}
	conn, ok := under.(interface{ ConnectionState() tls.ConnectionState })
	if !ok {
		return "", ""
	}
	state := conn.ConnectionState()
	return strings.Replace(tls.VersionName(state.Version), "TLS 1.", "TLSv1.", 1), tls.CipherSuiteName(state.CipherSuite)
}
