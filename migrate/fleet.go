package migrate

import (
	"context"
	"fmt"
	"time"

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

// acknowledged waits until every live proxy obeys a version of the map, and returns these proxies.
func (f fleet) acknowledged(ctx context.Context, version int64, acknowledgements <-chan struct{}) (map[string]int64, error) {
	look := time.NewTicker(fleetLook)
	defer look.Stop()
	began := time.Now()
	defer f.report.trouble("")
	slow := "" // the proxy that was behind at the last read
	for {
		proxies, err := f.store.Proxies(ctx)
		if err != nil && slow != "" && ctx.Err() != nil { // the time limit was reached during the read
			return nil, &disobeysError{slow, version, context.Cause(ctx)}
		}
		if err != nil {
			return nil, err
		}
		if slow = behind(proxies, version); slow == "" {
			return proxies, nil
		}
		if time.Since(began) > fleetPatience {
			f.report.update(func(r *job.Report) {
				r.Trouble = fmt.Sprintf("waiting for proxy %s to obey map version %d: a transaction that began before is still open there", slow, version)
			})
		}
		select {
		case <-ctx.Done():
			return nil, &disobeysError{slow, version, context.Cause(ctx)}
		case <-acknowledgements:
		case <-look.C:
		}
	}
}

// behind returns the name of a proxy that obeys only an older version, or "".
func behind(proxies map[string]int64, version int64) string {
	for name, obeys := range proxies {
		if obeys < version {
			return name
		}
	}
	return ""
}
