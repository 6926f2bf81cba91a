package session

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"locus/proxy/backend"
	"locus/router/stmt"
)

// countCommand notes a statement for SHOW STATUS: connections are borrowed, so what a
// shard counts for one is of many sessions.
func (s *Session) countCommand(st *stmt.Statement) {
	s.commands[st.Counter]++
	switch {
	case st.Features&stmt.ClearsStatus != 0:
		clear(s.commands[:])
	case st.Kind == stmt.TextPrepare:
		s.commands[preparing[st.Prepared.Verb]]++
	}
}

// preparing are counters of the protocol's commands, which the statements of the
// same meaning raise beside their own.
var preparing = map[string]stmt.Counter{
	"prepare": stmt.CountPrepare, "execute": stmt.CountExecute, "deallocate": stmt.CountClose,
}

// statusOverrides are the values of status that the proxy has itself.
func (s *Session) statusOverrides(session bool) []override {
	version, suite := s.cipher()
	clients := s.Processes()
	running := 0
	for _, c := range clients {
		if c.Command != "Sleep" {
			running++
		}
	}
	questions := uitoa(s.Counts.Statements.Load())
	list := []override{
		{"prepared_stmt_count", strconv.FormatInt(s.Counts.Prepared.Load(), 10)},
		{"queries", questions},
		{"questions", questions},
		{"ssl_cipher", backend.Quote(suite)},
		{"ssl_version", backend.Quote(version)},
		{"threads_connected", strconv.Itoa(len(clients))},
		{"threads_running", strconv.Itoa(max(1, running))},
		{"uptime", strconv.Itoa(max(1, int(time.Since(s.Began).Seconds())))},
	}
	for c, n := range s.commands {
		if session && c > 0 && n > 0 {
			list = append(list, override{stmt.Counter(c).Name(), uitoa(uint64(n))})
		}
	}
	return list
}

// withCounters adds the counters of commands, Com_…, to the table that SHOW
// STATUS is answered from: MySQL's tables leave them out.
func (s *Session) withCounters(table string, show *stmt.Shown) (string, error) {
	if s.flavor().TablesCountCommands() || !mayNameCounters(show.Clause) {
		return table, nil
	}
	scope := "SESSION"
	if show.Global {
		scope = "GLOBAL"
	}
	var rows *backend.Rows
	err := s.onFirst(s.settings, func(c *backend.Conn) (err error) {
		rows, err = c.Own().Query(s.ctx, "SHOW "+scope+" STATUS LIKE 'Com%'")
		return err
	})
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(s.counters(rows, show.Global))
	if err != nil { // of texts
		return "", err
	}
	columns := "Variable_name VARCHAR(64) PATH '$[0]', Value VARCHAR(1024) PATH '$[1]'"
	return strings.TrimSuffix(table, ")") + " UNION ALL SELECT CONVERT(Variable_name USING utf8mb4) COLLATE utf8mb4_0900_ai_ci, " +
		"CONVERT(Value USING utf8mb4) COLLATE utf8mb4_0900_ai_ci FROM JSON_TABLE(" + backend.Quote(string(text)) + ", '$[*]' COLUMNS (" + columns + ")) AS counters)", nil
}

// counters are the shard's, or under the shard's names the session's own.
func (s *Session) counters(rows *backend.Rows, global bool) [][2]string {
	own := map[string]uint32{}
	for c, n := range s.commands {
		own[stmt.Counter(c).Name()] = n
	}
	var list [][2]string
	for _, row := range rows.Rows {
		name, value := string(row[0]), string(row[1])
		if !strings.HasPrefix(name, "Com_") {
			continue
		}
		if !global {
			value = uitoa(uint64(own[strings.ToLower(name)]))
		}
		list = append(list, [2]string{name, value})
	}
	return list
}

// mayNameCounters tells whether what follows SHOW STATUS can be about Com_….
func mayNameCounters(clause string) bool {
	words := strings.Fields(strings.ToLower(clause))
	if len(words) < 2 || words[0] != "like" || len(words[1]) < 2 {
		return true
	}
	return strings.ContainsRune("c%_\\", rune(words[1][1]))
}
