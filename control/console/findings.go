package console

import (
	"net/http"
	"time"

	"locus/control/finding"
	"locus/control/overview"
)

// findingsAnswer is all findings of the cluster, as in the state, and when the slow checks of doctor have run.
type findingsAnswer struct {
	Schema int `json:"schema"`
	finding.Summary
	doctorAnswer
	Findings []finding.Finding `json:"findings"`
	// The numbers of components that locus doctor has checked.
	Etcd    int `json:"etcd_endpoints"`
	Proxies int `json:"proxies"`
	Shards  int `json:"shards"`
}

func (c *Console) findings(r *http.Request) findingsAnswer {
	s := c.looks.see(r.Context())
	state := overview.Of(s.Seen)
	return findingsAnswer{schema, state.Summary, c.doctor(s), state.Findings, s.Report.Etcd, s.Report.Proxies, s.Report.Shards}
}

func (c *Console) getFindings(w http.ResponseWriter, r *http.Request) {
	c.check.visit(time.Now())
	writeJSON(w, c.findings(r))
}

// lookAgain makes doctor run before it is due. It answers with the current findings.
func (c *Console) lookAgain(w http.ResponseWriter, r *http.Request) {
	c.check.visit(time.Now())
	c.check.hurry()
	writeJSON(w, c.findings(r))
}
