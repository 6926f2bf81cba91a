package ops

import (
	"context"
	"fmt"

	"locus/control/declared"
	"locus/router"
	"locus/router/cluster"
)

// RestoreRoutes requests that every gene is owned by the shard that owned it in an earlier version of the route map. No row is moved.
type RestoreRoutes struct {
	Version int64 `json:"version"`
	// Force accepts that rows of the genes stay where nothing reads them.
	Force bool `json:"force_move_without_data,omitempty"`
	Reason
}

func (r RestoreRoutes) next(ctx context.Context, o *Ops, current *cluster.Cluster) (*cluster.Cluster, error) {
	if current == nil {
		return nil, cluster.ErrNotDeclared
	}
	maps, err := o.mapsOf(ctx, r.Version)
	if err != nil {
		return nil, err
	}
	former := *current
	former.Routes = maps[0]
	return &former, former.Validate()
}

func (r RestoreRoutes) rules() rules {
	return rules{force: r.Force, stranded: behind, strandedSince: restored}
}

// CompareRoutes returns the genes that are owned by different shards in two versions of the route map.
func (o *Ops) CompareRoutes(ctx context.Context, first, second int64) ([]router.Handover, error) {
	maps, err := o.mapsOf(ctx, first, second)
	if err != nil {
		return nil, err
	}
	return router.Diff(maps[0], maps[1])
}

// mapsOf returns versions of the route map. Other versions that can't be read are no error.
func (o *Ops) mapsOf(ctx context.Context, numbers ...int64) (maps []*router.Map, err error) {
	versions, err := declared.History(ctx, o.kv)
	if err != nil && versions == nil {
		return nil, err
	}
	for _, number := range numbers {
		m := mapOf(versions, number)
		if m == nil {
			return nil, fmt.Errorf("version %d is not in the history, which has those that handed genes over: locus routes history lists them", number)
		}
		maps = append(maps, m)
	}
	return maps, nil
}

func mapOf(versions []cluster.Version, number int64) *router.Map {
	for _, v := range versions {
		if v.Map.Version() == number {
			return v.Map
		}
	}
	return nil
}
