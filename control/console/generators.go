package console

import (
	"fmt"
	"net/http"

	"locus/control/generators"
)

// generatorsAnswer is the declared generators, and how each stands in the proxies that have
// used it.
type generatorsAnswer struct {
	Schema     int                   `json:"schema"`
	Silent     []string              `json:"silent,omitempty"`
	Generators []generators.Standing `json:"generators"`
}

func (c *Console) getGenerators(w http.ResponseWriter, r *http.Request) {
	told, err := c.generators.get(r.Context())
	if err != nil {
		refuseJSON(w, http.StatusServiceUnavailable, fmt.Errorf("how generators stand: %w", err))
		return
	}
	writeJSON(w, generatorsAnswer{schema, told.Silent, generators.Standings(c.options.Proxy.Declared(), told.By)})
}
