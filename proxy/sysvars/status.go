package sysvars

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"locus/proxy/backend"
	"locus/router/stmt"
)

// Counters counts how often a session has run each kind of statement since its login, or since FLUSH STATUS. A shard's own counters are not
// usable, because a connection serves many sessions.
type Counters [stmt.Counters]uint32

// Count counts a statement.
func (c *Counters) Count(st *stmt.Statement) {
	c[st.Counter]++
	switch {
	case st.Features&stmt.ClearsStatus != 0:
		clear(c[:])
	case st.Kind == stmt.TextPrepare:
		c[preparing[st.Prepared.Verb]]++
	}
}

// preparing contains the counters of the protocol's commands. The statements with the same effect increment them in addition to their own.
var preparing = map[string]stmt.Counter{
	"prepare": stmt.CountPrepare, "execute": stmt.CountExecute, "deallocate": stmt.CountClose,
}

// Status is the part of SHOW STATUS about the process, and about the connection to the client.
type Status struct {
	Prepared           int64
	Statements         uint64
	Uptime             time.Duration
	TLSVersion, Cipher string
}

// statusOverrides returns the status values that the proxy has itself.
func (a *Answers) statusOverrides(session bool) []override {
	status, clients := a.Status(), a.Processes()
	running := 0
	for _, c := range clients {
		if c.Command != "Sleep" {
			running++
		}
	}
	questions := utoa(status.Statements)
	list := []override{
		{"prepared_stmt_count", strconv.FormatInt(status.Prepared, 10)},
		{"queries", questions},
		{"questions", questions},
		{"ssl_cipher", backend.Quote(status.Cipher)},
		{"ssl_version", backend.Quote(status.TLSVersion)},
		{"threads_connected", strconv.Itoa(len(clients))},
		{"threads_running", strconv.Itoa(max(1, running))},
		{"uptime", strconv.Itoa(max(1, int(status.Uptime.Seconds())))},
	}
	for c, n := range a.Commands {
		if session && c > 0 && n > 0 {
			list = append(list, override{stmt.Counter(c).Name(), utoa(n)})
		}
	}
	return list
}

// withCounters adds the counters of commands, Com_…, to the table for SHOW STATUS, because MySQL's tables lack them.
func (a *Answers) withCounters(table string, show *stmt.Shown) (string, error) {
	if a.flavor().TablesCountCommands() || !mayNameCounters(show.Clause) {
		return table, nil
	}
	rows, err := a.Ask("SHOW " + scopeOf(show) + " STATUS LIKE 'Com%'")
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(a.counters(rows, show.Global))
	if err != nil { // never, with texts
		return "", err
	}
	columns := "Variable_name VARCHAR(64) PATH '$[0]', Value VARCHAR(1024) PATH '$[1]'"
	return strings.TrimSuffix(table, ")") + " UNION ALL SELECT CONVERT(Variable_name USING utf8mb4) COLLATE utf8mb4_0900_ai_ci, " +
		"CONVERT(Value USING utf8mb4) COLLATE utf8mb4_0900_ai_ci FROM JSON_TABLE(" + backend.Quote(string(text)) + ", '$[*]' COLUMNS (" + columns + ")) AS counters)", nil
}

// counters returns the shard's counters, or, under the shard's names, the session's own.
func (a *Answers) counters(rows *backend.Rows, global bool) [][2]string {
	own := map[string]uint32{}
	for c, n := range a.Commands {
		own[stmt.Counter(c).Name()] = n
	}
	var list [][2]string
	for _, row := range rows.Rows {
		name, value := string(row[0]), string(row[1])
		if !strings.HasPrefix(name, "Com_") {
			continue
		}
		if !global {
			value = utoa(own[strings.ToLower(name)])
		}
		list = append(list, [2]string{name, value})
	}
	return list
}

// mayNameCounters reports whether the clause of a SHOW STATUS can match Com_….
func mayNameCounters(clause string) bool {
	words := strings.Fields(strings.ToLower(clause))
	if len(words) < 2 || words[0] != "like" || len(words[1]) < 2 {
		return true
	}
	return strings.ContainsRune("c%_\\", rune(words[1][1]))
}
