package sysvars

import (
	"encoding/json"
	"slices"
	"strings"

	"locus/proxy/backend"
)

// Process is a session as SHOW PROCESSLIST shows it.
type Process struct {
	ID      uint32
	User    string
	Host    string
	DB      *string
	Command string
	Time    int // seconds in this state
	State   string
	Info    *string
	// Thread is the server's ID of the session's connection to the first shard, or 0. That server knows what the current statement does or waits
	// for.
	Thread uint32
	// Pinned is the server's ID of the reserved connection to the first shard, or 0.
	Pinned uint32
}

// processTable returns a derived table of the proxy's sessions, without its alias. threads is the first shard's table of threads. It has the
// state of statements that run there. While the first shard's server is not healthy, any shard may answer, and no other shard knows these IDs.
func (a *Answers) processTable(threads string) string {
	state, join := "COALESCE(NULLIF(threads.STATE, ''), ours.STATE)", " LEFT JOIN "+threads+" AS threads ON threads.ID = ours.THREAD"
	if a.FirstUnwell {
		state, join = "ours.STATE", ""
	}
	list := a.Processes()
	if a.Bounded { // a bounded user may not see the statements of others
		list = slices.DeleteFunc(list, func(p Process) bool { return p.User != a.User })
	}
	slices.SortFunc(list, func(a, b Process) int { return int(a.ID) - int(b.ID) })
	text, err := json.Marshal(list)
	if err != nil { // never, with plain fields
		text = []byte("[]")
	}
	return "(SELECT ours.ID, ours.USER, ours.HOST, ours.DB, ours.COMMAND, ours.TIME, " +
		state + " AS STATE, ours.INFO FROM JSON_TABLE(" + backend.Quote(string(text)) + ", '$[*]' COLUMNS (" +
		"ID BIGINT UNSIGNED PATH '$.ID', USER VARCHAR(128) PATH '$.User', HOST VARCHAR(261) PATH '$.Host', DB VARCHAR(64) PATH '$.DB', " +
		"COMMAND VARCHAR(16) PATH '$.Command', TIME INT PATH '$.Time', STATE VARCHAR(256) PATH '$.State', INFO LONGTEXT PATH '$.Info', " +
		"THREAD BIGINT UNSIGNED PATH '$.Thread')) AS ours" + join + ")"
}

func (a *Answers) showProcessList(full bool) string {
	text := "LEFT(INFO, 100)"
	if full {
		text = "INFO"
	}
	threads, progress := a.flavor().Processes()
	query := "SELECT ID AS Id, USER AS User, HOST AS Host, DB AS db, COMMAND AS Command, TIME AS Time, STATE AS State, " + text + " AS Info"
	if progress {
		query += ", 0.000 AS Progress"
	}
	return query + " FROM " + a.processTable(threads) + " AS sessions ORDER BY ID"
}

// lockOwner returns an expression for the session that has a named lock. It maps pinned connections to the sessions of this process.
func (a *Answers) lockOwner(call string) string {
	var b strings.Builder
	for _, p := range a.Processes() {
		if p.Pinned != 0 {
			b.WriteString(" WHEN " + utoa(p.Pinned) + " THEN " + utoa(p.ID))
		}
	}
	if b.Len() == 0 {
		return call
	}
	return "CASE " + call + b.String() + " ELSE " + call + " END"
}
