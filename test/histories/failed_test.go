package histories

import (
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"locus/migrate/job"
)

// differing finds the row that a job names which found the servers different.
var differing = regexp.MustCompile(`(shop\.\w+) \["(-?\d+)"\]`)

// failed ends the test because a job has failed. It logs the job's journal, the positions and the refusals of
// its streams, and the row that it names, as on each shard.
func (w *world) failed(t *testing.T, j *job.Job) {
	t.Helper()
	t.Errorf("the job has failed: %s", j.State.Why)
	for _, e := range j.Journal {
		t.Logf("%s by %s: %s", e.At.Format("15:04:05.000"), e.By, e.What)
	}
	w.show(t, "SELECT * FROM locus.move_position")
	w.show(t, "SELECT * FROM locus.move_conflict")
	if row := differing.FindStringSubmatch(j.State.Why); row != nil {
		key := map[string]string{"shop.mark": "mark_id", "shop.item": "item_id", "shop.journal": "transfer", "shop.register": "uid", "shop.account": "uid"}
		if w.hot != nil {
			key = hotKeys
		}
		w.show(t, "SELECT * FROM "+row[1]+" WHERE "+key[row[1]]+" = "+row[2])
	}
	t.FailNow()
}

// show logs the rows of a query on every shard. A shard that is down, or has no such table, has none.
func (w *world) show(t *testing.T, query string) {
	t.Helper()
	for i, server := range w.Shards {
		rows, err := server.DB(t, schema).Query(query)
		if err != nil {
			t.Logf("s%d, %s: %v", i, query, err)
			continue
		}
		for rows.Next() {
			line, err := textOf(rows)
			t.Logf("s%d, %s: %s(%v)", i, query, line, err)
		}
		_ = rows.Close()
	}
}

func textOf(rows *sql.Rows) (string, error) {
	columns, err := rows.Columns()
	if err != nil {
		return "", err
	}
	values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	err = rows.Scan(into...)
	var line strings.Builder
	for i, name := range columns {
		fmt.Fprintf(&line, "%s=%s ", name, values[i].String)
	}
	return line.String(), err
}
