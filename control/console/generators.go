package console

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"locus/control/generators"
)

// generatorsAnswer is the declared generators, and how each stands in the proxies that have
// used it.
type generatorsAnswer struct {
	Schema     int               `json:"schema"`
	Silent     []string          `json:"silent,omitempty"`
	Generators []generatorAnswer `json:"generators"`
}

type generatorAnswer struct {
	Name    string        `json:"name"`
	Kind    string        `json:"kind"`
	Of      []string      `json:"of,omitempty"`
	Proxies []generatorIn `json:"proxies"`
}

type generatorIn struct {
	Proxy string `json:"proxy"`
	generators.Report
}

func (c *Console) getGenerators(w http.ResponseWriter, r *http.Request) {
	told, err := c.generators.get(r.Context())
	if err != nil {
		refuseJSON(w, http.StatusServiceUnavailable, fmt.Errorf("how generators stand: %w", err))
		return
	}
	declared := c.options.Proxy.Declared()
	a := generatorsAnswer{schema, told.Silent, []generatorAnswer{}}
	for _, name := range declared.GeneratorNames() {
		g := generatorAnswer{name, string(declared.Generators[name].Kind), declared.Generators[name].Of, []generatorIn{}}
		for _, id := range slices.Sorted(maps.Keys(told.By)) {
			for _, report := range told.By[id] {
				if report.Name == name {
					g.Proxies = append(g.Proxies, generatorIn{id, report})
				}
			}
		}
		a.Generators = append(a.Generators, g)
	}
	writeJSON(w, a)
}
