package generators

import (
	"maps"
	"slices"

	"locus/router/cluster"
)

// Standing is the state of a declared generator, or of a table with a Redis in front of its counters, in the
// proxies that have used it.
type Standing struct {
	Name    string       `json:"name"`
	Kind    string       `json:"kind"` // "table" for a table
	Of      []string     `json:"of,omitempty"`
	Proxies []StandingIn `json:"proxies"`
}

// StandingIn is the state in one proxy.
type StandingIn struct {
	Proxy string `json:"proxy"`
	Report
}

// Standings returns the states of everything that c declares, generators before tables, given the reports of
// the proxies.
func Standings(c *cluster.Cluster, by map[string][]Report) []Standing {
	all := []Standing{}
	for _, name := range c.GeneratorNames() {
		g := c.Generators[name]
		all = append(all, Standing{name, string(g.Kind), g.Of, standingIn(name, by)})
	}
	for _, table := range c.TableNames() {
		if id := c.Tables[table].ID; id != nil && id.Segments.Redis != nil {
			all = append(all, Standing{table.String(), "table", nil, standingIn(table.String(), by)})
		}
	}
	return all
}

func standingIn(name string, by map[string][]Report) []StandingIn {
	proxies := []StandingIn{}
	for _, proxy := range slices.Sorted(maps.Keys(by)) {
		for _, report := range by[proxy] {
			if report.Name == name {
				proxies = append(proxies, StandingIn{proxy, report})
			}
		}
	}
	return proxies
}
