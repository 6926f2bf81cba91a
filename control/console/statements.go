package console

import (
	"fmt"
	"net/http"
	"time"

	"locus/control/fleet"
	"locus/proxy/meter"
)

// statementsAnswer is the cost of the statements of all proxies, as in locus.statements.
type statementsAnswer struct {
	Schema     int               `json:"schema"`
	At         time.Time         `json:"at"`
	Since      time.Time         `json:"since"` // start of the counts
	Proxies    int               `json:"proxies"`
	Silent     []string          `json:"silent,omitempty"`
	Digests    int               `json:"digests"`       // digests with figures of their own
	Limit      int               `json:"digests_limit"` // the limit of digests
	Statements []statementAnswer `json:"statements"`
}

type statementAnswer struct {
	Digest    string `json:"digest,omitempty"`
	Text      string `json:"statement"`
	Database  string `json:"database,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Count     uint64 `json:"count"`
	Errors    uint64 `json:"errors"`
	LastError uint32 `json:"last_error,omitempty"`
	Rows      uint64 `json:"rows"`
	Several   uint64 `json:"on_several_shards"`
	// Reached is the average number of shards of the statements on several shards. Gathered is how many of the statements had the rows of the shards
	// gathered on one of them.
	Reached  float64 `json:"shards_reached"`
	Gathered uint64  `json:"gathered"`
	// Copied is the number of rows that were gathered. Keyed is the number of those that were read by the keys of other rows.
	Copied uint64 `json:"rows_gathered"`
	Keyed  uint64 `json:"rows_by_key"`
	// Tables are the tables that the statement names, as it writes them.
	Tables    []string  `json:"tables,omitempty"`
	TotalMs   float64   `json:"total_ms"`
	AverageMs float64   `json:"average_ms"`
	P50Ms     float64   `json:"p50_ms"`
	P99Ms     float64   `json:"p99_ms"`
	SlowestMs float64   `json:"slowest_ms"`
	WaitedMs  float64   `json:"waited_ms"`
	HeldMs    float64   `json:"held_ms"`
	PerSecond float64   `json:"per_second"`
	Load      float64   `json:"under_way"`
	First     time.Time `json:"first_seen,omitzero"`
	Last      time.Time `json:"last_seen,omitzero"`
}

// Bounds of the answer, sufficient for a page.
const (
	statementsTold     = 500
	statementsEvery    = 2 * time.Second
	statementsPatience = 5 * time.Second
)

func newStatements(c Cluster) *lately[fleet.Cost] {
	return &lately[fleet.Cost]{every: statementsEvery, patience: statementsPatience, find: c.Statements}
}

func (c *Console) getStatements(w http.ResponseWriter, r *http.Request) {
	cost, err := c.statements.get(r.Context())
	if err != nil {
		refuseJSON(w, http.StatusServiceUnavailable, fmt.Errorf("what statements cost: %w", err))
		return
	}
	writeJSON(w, newStatementsAnswer(cost))
}

func newStatementsAnswer(cost fleet.Cost) statementsAnswer {
	a := statementsAnswer{
		Schema: schema, At: cost.At, Since: cost.Since, Proxies: cost.Proxies, Silent: cost.Silent, Digests: cost.Kept, Limit: cost.Most,
		Statements: []statementAnswer{},
	}
	told := cost.Digests[:min(len(cost.Digests), statementsTold)]
	others := cost.Others
	for _, f := range cost.Digests[len(told):] {
		others.Add(f)
	}
	for _, f := range told {
		a.Statements = append(a.Statements, newStatement(f))
	}
	if others.Count > 0 {
		a.Statements = append(a.Statements, newStatement(others))
	}
	return a
}

func newStatement(f meter.Figures) statementAnswer {
	return statementAnswer{
		Digest: f.Hash, Text: f.Text, Database: f.Database, Kind: f.Kind, Count: f.Count, Errors: f.Failed, LastError: f.LastCode, Rows: f.Rows, Several: f.Several, Gathered: f.Gathered, Copied: f.Copied, Keyed: f.Keyed, Tables: f.Tables,
		Reached: float64(f.Sent) / float64(max(1, f.Several)),
		TotalMs: f.TotalMs, AverageMs: f.TotalMs / float64(max(1, f.Count)), SlowestMs: f.SlowestMs, WaitedMs: f.WaitedMs, HeldMs: f.HeldMs,
		P50Ms: quantile(f, 0.5), P99Ms: quantile(f, 0.99),
		PerSecond: f.PerSecond, Load: f.Load, First: f.First, Last: f.Last,
	}
}

// quantile returns milliseconds, at most the slowest time, because times are counted in buckets.
func quantile(f meter.Figures, q float64) float64 {
	return min(meter.Quantile(f.Times, q).Seconds()*1000, f.SlowestMs)
}
