package console

import (
	"fmt"
	"net/http"

	"locus/control/generators"
)

// generatorsAnswer is the declared generators and their state in the proxies that have used them.
type generatorsAnswer struct {
	Schema     int                   `json:"schema"`
	Silent     []string              `json:"silent,omitempty"`
	Generators []generators.Standing `json:"generators"`
}

func (c *Console) getGenerators(w http.ResponseWriter, r *http.Request) {
	told, err := c.generators.get(r.Context())
	if err != nil {
		refuseJSON(w, http.StatusServiceUnavailable, fmt.Errorf("read the state of the generators: %w", err))
		return
	}
	writeJSON(w, generatorsAnswer{schema, told.Silent, generators.Standings(c.options.Proxy.Declared(), told.By)})
}
