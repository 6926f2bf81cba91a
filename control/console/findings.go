package console

import (
	"net/http"
	"time"
)

// findingsAnswer is what locus doctor finds.
type findingsAnswer struct {
	Schema int `json:"schema"`
	findings
}

func (c *Console) getFindings(w http.ResponseWriter, _ *http.Request) {
	c.check.visit(time.Now())
	writeJSON(w, findingsAnswer{schema, c.check.found()})
}

// lookAgain has doctor look before its time. The answer is what is known so far.
func (c *Console) lookAgain(w http.ResponseWriter, _ *http.Request) {
	c.check.visit(time.Now())
	c.check.hurry()
	writeJSON(w, findingsAnswer{schema, c.check.found()})
}
