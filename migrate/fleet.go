package migrate

import (
	"context"
	"fmt"
	"time"

	"locus/migrate/job"
)

// fleet is the living proxies, as the store knows them.
type fleet struct {
	store  Store
	report *reporter
}

const (
	// fleetLook is between looks at what the proxies have acknowledged, beside being told of it.
	fleetLook = 100 * time.Millisecond
	// fleetPatience is after how long the report names the proxy that is waited for.
	fleetPatience = 2 * time.Second
)

// acknowledged waits until every living proxy obeys a version of the map, and returns which those are.
func (f fleet) acknowledged(ctx context.Context, version int64, acknowledgements <-chan struct{}) (map[string]int64, error) {
	look := time.NewTicker(fleetLook)
	defer look.Stop()
	began := time.Now()
	defer f.report.trouble("")
	slow := "" // the proxy that the last read found behind
	for {
		proxies, err := f.store.Proxies(ctx)
		if err != nil && slow != "" && ctx.Err() != nil { // the time limit has ended during the read
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

// behind names a proxy that obeys an older version only, if there is one.
func behind(proxies map[string]int64, version int64) string {
	for name, obeys := range proxies {
		if obeys < version {
			return name
		}
	}
	return ""
}
