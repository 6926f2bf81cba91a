package generators

import (
	"maps"
	"slices"

	"locus/router/cluster"
)

// Standing is a declared generator, or a table with a Redis in front of the counters of its
// IDs, and how it stands in the proxies that have used it.
type Standing struct {
	Name    string       `json:"name"`
	Kind    string       `json:"kind"` // "table" for one of those
	Of      []string     `json:"of,omitempty"`
	Proxies []StandingIn `json:"proxies"`
}

// StandingIn is how one stands in a proxy.
type StandingIn struct {
	Proxy string `json:"proxy"`
	Report
}

// Standings are those of all that c declares, generators before tables, of what each proxy
// reported.
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
