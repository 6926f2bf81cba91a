package migrate

import (
	"context"
	"fmt"
	"time"

	"locus/internal/steps"
	"locus/migrate/job"
)

// fleet gives access to the live proxies, as the store lists them.
type fleet struct {
	store  Store
	report *reporter
}

const (
	// fleetLook is the interval between checks of the proxies' acknowledgements, in addition to the watch.
	fleetLook = 100 * time.Millisecond
	// fleetPatience is the time after which the report names the proxy that has not acknowledged.
	fleetPatience = 2 * time.Second
)

// acknowledged waits until every live proxy obeys a version of the map, and returns these proxies. If ctx ends before, the error is a
// *steps.MissingError.
func (f fleet) acknowledged(ctx context.Context, version int64, acknowledgements <-chan struct{}) (proxies map[string]int64, err error) {
	began := time.Now()
	defer f.report.trouble("")
	err = steps.Barrier{
		Condition: fmt.Sprintf("obeys map version %d", version), Every: fleetLook, Changed: acknowledgements,
		Read: func(ctx context.Context) (_ []steps.Missing, err error) {
			proxies, err = f.store.Proxies(ctx)
			return steps.Behind(proxies, version, "map version"), err
		},
		Waiting: func(missing []steps.Missing) {
			if time.Since(began) > fleetPatience {
				f.report.update(func(r *job.Report) {
					r.Trouble = fmt.Sprintf("waiting until every process obeys map version %d: %s", version, missing[0])
				})
			}
		},
	}.Wait(ctx)
	if err != nil {
		return nil, err
	}
	return proxies, nil
}
