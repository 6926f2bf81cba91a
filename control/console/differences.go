package console

import (
	"fmt"
	"net/http"

	"locus/config"
	"locus/migrate/job"
)

// differencesAnswer is the rows that differ between the shards of a job that failed its verification.
type differencesAnswer struct {
	Schema int            `json:"schema"`
	Source string         `json:"source"`
	Target string         `json:"target"`
	Rows   []differingRow `json:"rows"`
	Beyond int64          `json:"beyond"` // about how many more rows differ
	// Hidden is true if the values are left out, because an admin alone may see them.
	Hidden bool `json:"hidden,omitempty"`
}

// differingRow is a row as both shards have it. A text is empty if the shard has no such row, and hiddenRow if its values are hidden.
type differingRow struct {
	Number  int      `json:"row"`
	Table   string   `json:"table"`
	Key     string   `json:"key"`
	Columns []string `json:"columns"` // that differ
	Source  string   `json:"source"`
	Target  string   `json:"target"`
	Owner   job.Side `json:"owner"` // the shard whose row clients see: source or target
	Newer   job.Side `json:"newer,omitempty"`
	Left    string   `json:"left,omitempty"` // why a repair has left it
}

// mostDiffering bounds the rows of an answer.
const mostDiffering = 50

func (c *Console) getDifferences(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	j := c.looks.see(r.Context()).jobOf(id)
	if j == nil {
		refuseJSON(w, http.StatusNotFound, fmt.Errorf("job %s is not running; locus jobs lists the jobs", id))
		return
	}
	found, err := c.options.Cluster.Differences(r.Context(), id)
	if err != nil {
		refuseJSON(w, http.StatusServiceUnavailable, fmt.Errorf("read the differing rows of job %s: %w", id, err))
		return
	}
	a := differencesAnswer{
		Schema: schema, Source: j.Source(), Target: j.Target(), Rows: []differingRow{}, Beyond: found.Beyond + int64(max(0, len(found.Rows)-mostDiffering)),
		Hidden: !who(r).may(config.Admin),
	}
	for _, d := range found.Rows[:min(len(found.Rows), mostDiffering)] {
		newer, _ := d.Newer()
		a.Rows = append(a.Rows, differingRow{
			Number: d.Number, Table: d.Table, Key: d.KeyText, Columns: append([]string{}, d.Columns...), Source: a.shown(d.Source), Target: a.shown(d.Target),
			Owner: d.Owner, Newer: newer, Left: d.Left,
		})
	}
	writeJSON(w, a)
}

// hiddenRow stands for a row whose values are hidden.
const hiddenRow = "(a row)"

func (a *differencesAnswer) shown(row job.Image) string {
	if a.Hidden && row.There() {
		return hiddenRow
	}
	return row.Short
}
