package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"locus/router"
)

// Version is a version of the route map with its stamp.
type Version struct {
	Map   *router.Map
	Stamp router.Stamp
}

// History returns the route maps among the keys under the cluster's prefix, the oldest first. The error contains those that can't be read. The
// others are returned even so.
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
