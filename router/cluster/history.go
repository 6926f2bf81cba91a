package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"locus/router"
)

// Version is a route map of the history.
type Version struct {
	Map   *router.Map
	Stamp router.Stamp
}

// History reads the route maps among keys under the cluster's prefix, the oldest first. One that
// can't be read does not keep the others from being given.
func History(documents map[string][]byte) ([]Version, error) {
	var versions []Version
	var errs []error
	for key, text := range documents {
		if !strings.HasPrefix(key, HistoryPrefix) {
			continue
		}
		m, stamp, err := router.Decode(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", key, err))
			continue
		}
		versions = append(versions, Version{m, stamp})
	}
	slices.SortFunc(versions, func(a, b Version) int { return int(a.Map.Version() - b.Map.Version()) })
	return versions, errors.Join(errs...)
}
