package console

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"locus/migrate"
	"locus/migrate/job"
	"locus/migrate/phase"
)

// pastAnswer is the moves that are over, latest first.
type pastAnswer struct {
	Schema int        `json:"schema"`
	Moves  []pastMove `json:"moves"`
}

type pastMove struct {
	ID      string      `json:"id"`
	Kind    job.Kind    `json:"kind"`
	Phase   phase.Phase `json:"phase"`
	From    string      `json:"from"`
	To      string      `json:"to"`
	Genes   int         `json:"genes"`
	By      string      `json:"by"`
	Why     string      `json:"why,omitempty"`
	Created time.Time   `json:"created"`
	Ended   time.Time   `json:"ended"`
	Took    float64     `json:"seconds"`
}

func newPastMove(j *job.Job) pastMove {
	ended := j.Created
	if n := len(j.Journal); n > 0 {
		ended = j.Journal[n-1].At
	}
	return pastMove{
		j.ID, j.Kind, j.State.Shown(), string(j.From), j.Target(), j.Genes.Len(), j.By, j.Why, j.Created, ended, ended.Sub(j.Created).Seconds(),
	}
}

func (c *Console) getMoves(w http.ResponseWriter, r *http.Request) {
	a := pastAnswer{schema, []pastMove{}}
	for _, m := range c.looks.see(r.Context()).moves {
		if m.Job.State.Over() {
			a.Moves = append(a.Moves, newPastMove(m.Job))
		}
	}
	slices.Reverse(a.Moves)
	writeJSON(w, a)
}

// journalAnswer is a move with its whole journal, newest entry first.
type journalAnswer struct {
	Schema int `json:"schema"`
	pastMove
	Journal []job.Entry `json:"journal"`
}

// getMove handles GET /v1/moves/{id}, for current and past moves.
func (c *Console) getMove(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	j := c.looks.see(r.Context()).jobOf(id)
	if j == nil {
		all, err := c.options.Cluster.Jobs(r.Context())
		if err != nil {
			refuseJSON(w, http.StatusServiceUnavailable, err)
			return
		}
		if at := slices.IndexFunc(all, func(j *job.Job) bool { return j.ID == id }); at >= 0 {
			j = all[at]
		}
	}
	if j == nil {
		refuseJSON(w, http.StatusNotFound, fmt.Errorf("move %s: %w", id, migrate.ErrNoJob))
		return
	}
	writeJSON(w, journalAnswer{schema, newPastMove(j), newest(j.Journal, len(j.Journal))})
}
