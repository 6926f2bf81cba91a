package console

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"locus/router"
	"locus/router/cluster"
)

// routesAnswer is the versions of the route map that handed over genes, latest first.
type routesAnswer struct {
	Schema   int            `json:"schema"`
	Versions []versionOfMap `json:"versions"`
	Trouble  string         `json:"trouble,omitempty"` // why some are missing
}

type versionOfMap struct {
	Version int64      `json:"version"`
	At      time.Time  `json:"at,omitzero"`
	By      string     `json:"by,omitempty"`
	Why     string     `json:"why,omitempty"`
	Changes []handover `json:"changes"` // relative to the version before it in this list
}

type handover struct {
	Genes int    `json:"genes"`
	Range string `json:"gene_ranges"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// versionsTold bounds the answer.
const versionsTold = 100

func (c *Console) getRoutes(w http.ResponseWriter, r *http.Request) {
	versions, err := c.routes.get(r.Context())
	if err != nil && len(versions) == 0 {
		refuseJSON(w, http.StatusServiceUnavailable, fmt.Errorf("the history of the map: %w", err))
		return
	}
	a := newRoutesAnswer(versions)
	if err != nil {
		a.Trouble = err.Error()
	}
	writeJSON(w, a)
}

func newRoutesAnswer(versions []cluster.Version) routesAnswer {
	a := routesAnswer{Schema: schema, Versions: []versionOfMap{}}
	first := max(0, len(versions)-versionsTold)
	for i := first; i < len(versions); i++ {
		v := versionOfMap{versions[i].Map.Version(), versions[i].Stamp.At, versions[i].Stamp.By, versions[i].Stamp.Why, []handover{}}
		if i > 0 {
			handovers, _ := router.Diff(versions[i-1].Map, versions[i].Map) // maps of different widths can't be compared
			for _, h := range handovers {
				v.Changes = append(v.Changes, handover{h.Genes.Len(), short(h.Genes.String()), string(h.From), string(h.To)})
			}
		}
		a.Versions = append(a.Versions, v)
	}
	slices.Reverse(a.Versions)
	return a
}
