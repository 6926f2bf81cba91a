package console

import (
	"net/http"
	"time"
)

// findingsAnswer is the findings of locus doctor.
type findingsAnswer struct {
	Schema int `json:"schema"`
	findings
}

func (c *Console) getFindings(w http.ResponseWriter, _ *http.Request) {
	c.check.visit(time.Now())
	writeJSON(w, findingsAnswer{schema, c.check.found()})
}

// lookAgain makes doctor run before it is due. It answers with the current findings.
func (c *Console) lookAgain(w http.ResponseWriter, _ *http.Request) {
	c.check.visit(time.Now())
	c.check.hurry()
	writeJSON(w, findingsAnswer{schema, c.check.found()})
}
