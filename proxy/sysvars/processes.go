package sysvars

import (
	"encoding/json"
	"slices"
	"strings"

	"locus/proxy/backend"
)

// Process is a session as SHOW PROCESSLIST has it.
type Process struct {
	ID      uint32
	User    string
	Host    string
	DB      *string
	Command string
	Time    int // seconds in this state
	State   string
	Info    *string
	// Thread is the number of its connection to the first shard, whose server knows
	// what the statement under way does or waits for; 0: it has none.
	Thread uint32
	// Pinned is the number of the one that it keeps there; 0: it keeps none.
	Pinned uint32
}

// processTable is a table of the proxy's sessions, without its alias. What a
// statement does or waits for is the first shard's to say, where it runs there, in
// its table of threads. While its server is not well any shard can answer, of which
// none knows these numbers.
func (a *Answers) processTable(threads string) string {
	state, join := "COALESCE(NULLIF(threads.STATE, ''), ours.STATE)", " LEFT JOIN "+threads+" AS threads ON threads.ID = ours.THREAD"
	if a.FirstUnwell {
		state, join = "ours.STATE", ""
	}
	list := a.Processes()
	if a.Bounded { // others' statements are not for everybody
		list = slices.DeleteFunc(list, func(p Process) bool { return p.User != a.User })
	}
	slices.SortFunc(list, func(a, b Process) int { return int(a.ID) - int(b.ID) })
	text, err := json.Marshal(list)
	if err != nil { // of plain fields
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

// holder gives whose lock it is: sessions of this process are known by the connections
// that they have pinned.
func (a *Answers) holder(call string) string {
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
