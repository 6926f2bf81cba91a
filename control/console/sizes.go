package console

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"locus/control/ops"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// sizesAnswer is the sizes of all tables, as the servers estimate them.
type sizesAnswer struct {
	Schema int          `json:"schema"`
	At     time.Time    `json:"at"`
	Tables []sizeAnswer `json:"tables"`  // the largest first
	Left   int          `json:"left"`    // how many more there are
	Wrong  []string     `json:"trouble"` // why the sizes on some shards are missing
}

type sizeAnswer struct {
	Database string `json:"database"`
	Name     string `json:"name"`
	Declared bool   `json:"declared"`
	Rows     int64  `json:"rows"`
	Bytes    int64  `json:"bytes"`
	// Skew is the rows on the largest shard in relation to the average of the shards that have genes. It is 0 for a table that is not sharded.
	Skew   float64       `json:"skew"`
	Shards []sizeOnShard `json:"shards"`
}

type sizeOnShard struct {
	Shard string `json:"shard"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"`
}

// Sizes change slowly, and reading them costs the servers more than other queries of the page.
const (
	sizesEvery    = time.Minute
	sizesPatience = 10 * time.Second
	mostSizes     = 2000
)

// sizes contains the answers of the shards.
type sizes struct {
	at    time.Time
	by    map[router.ShardName][]ops.TableSize
	wrong []string
}

func newSizes(o Options) *lately[sizes] {
	return &lately[sizes]{every: sizesEvery, patience: sizesPatience, find: func(ctx context.Context) (sizes, error) {
		found := sizes{at: time.Now().UTC(), by: map[router.ShardName][]ops.TableSize{}, wrong: []string{}}
		var mu sync.Mutex // guards found
		var asking sync.WaitGroup
		for _, shard := range o.Proxy.Declared().ShardNames() {
			asking.Go(func() {
				list, err := o.Cluster.TableSizes(ctx, shard)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					found.wrong = append(found.wrong, fmt.Sprintf("shard %s: %v", shard, err))
					return
				}
				found.by[shard] = list
			})
		}
		asking.Wait()
		slices.Sort(found.wrong)
		return found, nil
	}}
}

func (c *Console) getSizes(w http.ResponseWriter, r *http.Request) {
	found, err := c.sizes.get(r.Context())
	if err != nil {
		refuseJSON(w, http.StatusServiceUnavailable, err)
		return
	}
	writeJSON(w, newSizesAnswer(found, c.looks.declared()))
}

func newSizesAnswer(found sizes, declared *cluster.Cluster) sizesAnswer {
	a := sizesAnswer{Schema: schema, At: found.at, Tables: []sizeAnswer{}, Wrong: found.wrong}
	at := map[catalog.TableName]int{}
	for _, shard := range declared.ShardNames() {
		for _, size := range found.by[shard] {
			i, known := at[size.Table]
			if !known {
				i = len(a.Tables)
				at[size.Table] = i
				_, is := declared.Tables[size.Table]
				a.Tables = append(a.Tables, sizeAnswer{Database: size.Table.Schema, Name: size.Table.Name, Declared: is})
			}
			t := &a.Tables[i]
			t.Rows, t.Bytes = t.Rows+size.Rows, t.Bytes+size.Bytes
			t.Shards = append(t.Shards, sizeOnShard{string(shard), size.Rows, size.Bytes})
		}
	}
	owning := 0
	for _, shard := range declared.ShardNames() {
		if declared.Routes.GenesOf(shard).Len() > 0 {
			owning++
		}
	}
	for i := range a.Tables {
		t := &a.Tables[i]
		if d, is := declared.Tables[catalog.TableName{Schema: t.Database, Name: t.Name}]; is && d.Kind == catalog.Sharded && t.Rows > 0 {
			largest := slices.MaxFunc(t.Shards, func(a, b sizeOnShard) int { return cmp.Compare(a.Rows, b.Rows) })
			t.Skew = float64(largest.Rows) * float64(owning) / float64(t.Rows)
		}
	}
	slices.SortStableFunc(a.Tables, func(a, b sizeAnswer) int { return cmp.Compare(b.Bytes, a.Bytes) })
	a.Left = max(0, len(a.Tables)-mostSizes)
	a.Tables = a.Tables[:len(a.Tables)-a.Left]
	return a
}
