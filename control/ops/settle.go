package ops

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locus/config/etcd"
	"locus/control/fleet"
	"locus/idgen/orderid"
	"locus/idgen/segment"
	"locus/internal/steps"
	"locus/router/catalog"
	"locus/router/cluster"
)

// acknowledgement limits the wait for the proxies after a change of the map.
const acknowledgement = 15 * time.Second

// AwaitMap waits until every live proxy obeys a version of the route map. The error names the proxies that don't. While etcd does not
// answer, AwaitMap waits too, because the change was written.
func AwaitMap(ctx context.Context, kv *etcd.KV, version int64) error {
	ctx, cancel := context.WithTimeout(ctx, acknowledgement)
	defer cancel()
	return steps.Barrier{
		Condition: fmt.Sprintf("obeys map version %d", version), Every: 50 * time.Millisecond,
		Read: func(ctx context.Context) ([]steps.Missing, error) {
			missing, err := fleet.BehindMap(ctx, kv, version)
			if err != nil && ctx.Err() == nil {
				return []steps.Missing{{Process: "unknown processes", Why: err.Error()}}, nil
			}
			return missing, err
		},
	}.Wait(ctx)
}

// Regrouped is a counter of IDs that got another number of groups.
type Regrouped struct {
	Counter  string
	Was, Now int
}

// Regroup gives the counters of the IDs of all tables the declared number of groups, while proxies make IDs. Each change of tables
// repeats it, and so completes a change that failed before its end. Counters without IDs yet start with that number by themselves.
func (o *Ops) Regroup(ctx context.Context, c *cluster.Cluster, by string) (list []Regrouped, err error) {
	var errs []error
	for _, name := range c.TableNames() {
		for _, prefix := range counterPrefixes(c.CountersOf(name), c.Tables[name]) {
			store := segment.NewCASStore(o.kv.Under(cluster.SegmentPrefix), prefix, by, o.now)
			was, err := store.Groups(ctx)
			if err == nil && was != 0 {
				err = store.Regroup(ctx, c.Settings.CounterGroups)
			}
			switch {
			case err != nil:
				errs = append(errs, fmt.Errorf("counters of %s: %w", name, err))
			case was != 0 && was != c.Settings.CounterGroups:
				list = append(list, Regrouped{prefix[:len(prefix)-1], was, c.Settings.CounterGroups})
			}
		}
	}
	return list, errors.Join(errs...)
}

// counterPrefixes returns the prefixes of the keys of a table's counters, one for each layout of its IDs.
func counterPrefixes(name catalog.TableName, d catalog.Declaration) []string {
	if d.ID == nil {
		return nil
	}
	prefixes := []string{cluster.CounterPrefix(name, orderid.Layout{})}
	if wide := d.ID.Wide(); !wide.IsZero() {
		prefixes = append(prefixes, cluster.CounterPrefix(name, wide))
	}
	return prefixes
}
