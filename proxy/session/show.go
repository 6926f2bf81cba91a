package session

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"

	"locus/proxy/backend"
	"locus/router/stmt"
)

// shown writes a SHOW as the query whose answer it has.
func (s *Session) shown(show *stmt.Shown) ([]byte, error) {
	clause := show.Clause
	scope := "session_"
	if show.Global {
		scope = "global_"
	}
	switch show.What {
	case "variables", "status":
		if strings.HasPrefix(strings.ToLower(clause), "like") {
			clause = "WHERE Variable_name " + clause
		}
		table := s.variableTable(scope+show.What, s.flavor().VariableName(show.What == "variables")+" AS Variable_name", "Value")
		if show.What == "status" {
			var err error
			if table, err = s.withCounters(table, show); err != nil {
				return nil, err
			}
		}
		return []byte("SELECT * FROM " + table + " AS " + scope + show.What + " " + clause + " ORDER BY Variable_name"), nil
	case "processlist":
		return []byte(s.showProcessList(show.Full)), nil
	case "tables":
		return s.showOwnTables(show)
	case "columns":
		return s.showOwnColumns(show)
	}
	return s.showGrants()
}

// ownTable gives what stands for one of the servers' tables that speak of
// sessions: a derived table without its alias.
func (s *Session) ownTable(name string, r *request) (string, error) {
	if table, own := strings.CutPrefix(name, stmt.Own+"."); own {
		return s.virtualTable(table, r)
	}
	if name == "processlist" {
		return "(SELECT ID, USER, HOST, DB, COMMAND, TIME, STATE, INFO FROM " + s.processTable("information_schema.PROCESSLIST") + " AS sessions)", nil
	}
	return s.variableTable(name, "VARIABLE_NAME", "VARIABLE_VALUE"), nil
}

// variableTable is the shard's table of variables or of status, with the
// proxy's values in it.
func (s *Session) variableTable(table, name, value string) string {
	schema := s.flavor().VariableTables() + "."
	var b strings.Builder
	b.WriteString("(SELECT " + name + ", CASE LOWER(VARIABLE_NAME)")
	for _, v := range s.overrides(table) {
		b.WriteString(" WHEN '" + v.name + "' THEN " + v.sql)
	}
	rest := "VARIABLE_VALUE"
	if table == "session_status" { // what other sessions did on the connection is none of ours
		rest = "IF(VARIABLE_NAME LIKE 'COM~_%' ESCAPE '~', '0', VARIABLE_VALUE)"
	}
	b.WriteString(" ELSE " + rest + " END AS " + value + " FROM " + schema + table + ")")
	return b.String()
}

// override is a row of such a table whose value is the proxy's.
type override struct{ name, sql string }

func (s *Session) overrides(table string) []override {
	if strings.HasSuffix(table, "_status") {
		return s.statusOverrides(table == "session_status")
	}
	var list []override
	if !strings.HasPrefix(table, "global") { // the connection's are of whoever inserted on it last
		list = []override{{"identity", uitoa(s.insertID)}, {"last_insert_id", uitoa(s.insertID)}}
	}
	for name, class := range variableClasses {
		if class != readOnly && class != ignored && name != "pseudo_thread_id" {
			continue
		}
		if sql, ok := s.ownVariable(name, strings.HasPrefix(table, "global"), "VARIABLE_VALUE"); ok {
			list = append(list, override{name, sql})
		}
	}
	if s.hidesPaths() {
		for name := range paths {
			list = append(list, override{name, "''"})
		}
	}
	slices.SortFunc(list, func(a, b override) int { return strings.Compare(a.name, b.name) })
	return list
}

// processTable is a table of the proxy's sessions, without its alias. What a
// statement does or waits for is the first shard's to say, where it runs there, in
// its table of threads.
func (s *Session) processTable(threads string) string {
	list := s.Processes()
	if s.account.Rights != nil { // others' statements are not for everybody
		list = slices.DeleteFunc(list, func(p Process) bool { return p.User != s.user })
	}
	slices.SortFunc(list, func(a, b Process) int { return int(a.ID) - int(b.ID) })
	text, err := json.Marshal(list)
	if err != nil { // of plain fields
		text = []byte("[]")
	}
	return "(SELECT ours.ID, ours.USER, ours.HOST, ours.DB, ours.COMMAND, ours.TIME, " +
		"COALESCE(NULLIF(threads.STATE, ''), ours.STATE) AS STATE, ours.INFO FROM JSON_TABLE(" + backend.Quote(string(text)) + ", '$[*]' COLUMNS (" +
		"ID BIGINT UNSIGNED PATH '$.ID', USER VARCHAR(128) PATH '$.User', HOST VARCHAR(261) PATH '$.Host', DB VARCHAR(64) PATH '$.DB', " +
		"COMMAND VARCHAR(16) PATH '$.Command', TIME INT PATH '$.Time', STATE VARCHAR(256) PATH '$.State', INFO LONGTEXT PATH '$.Info', " +
		"THREAD BIGINT UNSIGNED PATH '$.Thread')) AS ours LEFT JOIN " + threads + " AS threads ON threads.ID = ours.THREAD)"
}

func (s *Session) showProcessList(full bool) string {
	text := "LEFT(INFO, 100)"
	if full {
		text = "INFO"
	}
	threads, progress := s.flavor().Processes()
	query := "SELECT ID AS Id, USER AS User, HOST AS Host, DB AS db, COMMAND AS Command, TIME AS Time, STATE AS State, " + text + " AS Info"
	if progress {
		query += ", 0.000 AS Progress"
	}
	return query + " FROM " + s.processTable(threads) + " AS sessions ORDER BY ID"
}

// account is how SHOW GRANTS names who has the rights, and password what it
// must not show.
var (
	account  = regexp.MustCompile("( TO )(`[^`]*`@`[^`]*`|'[^']*'@'[^']*')")
	password = regexp.MustCompile(` IDENTIFIED (?:BY|WITH|VIA) .*?('\*?[^']*'|USING '[^']*')`)
)

// showGrants shows what the proxy's account has on the shards, which is what its
// clients have there, under the client's own name.
func (s *Session) showGrants() ([]byte, error) {
	var rows *backend.Rows
	err := s.onFirst(s.settings, func(c *backend.Conn) (err error) {
		rows, err = c.Own().Query(s.ctx, "SHOW GRANTS")
		return err
	})
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for i, row := range rows.Rows {
		grant := account.ReplaceAllString(string(row[0]), "${1}`"+strings.ReplaceAll(s.user, "`", "``")+"`@`%`")
		grant = password.ReplaceAllString(grant, "")
		if i > 0 {
			b.WriteString(" UNION ALL ")
		}
		b.WriteString("SELECT " + backend.Quote(grant))
		b.Write(appendAlias(nil, []byte("Grants for "+s.user+"@%")))
	}
	if b.Len() == 0 {
		return nil, errors.New("the shard showed no grants")
	}
	return []byte(b.String()), nil
}
