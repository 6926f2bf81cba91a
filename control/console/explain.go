package console

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"locus/control/ops"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// explainRequest is a statement with its values, and its default database.
type explainRequest struct {
	Database  string `json:"database"`
	Statement string `json:"statement"`
}

// explainAnswer is the plan of the proxies for a statement, and those of the shards' servers.
type explainAnswer struct {
	Schema int             `json:"schema"`
	Route  []routeLine     `json:"route"`
	Shards []shardPlanMade `json:"shards"`
}

type routeLine struct {
	Part   string `json:"part"`
	Detail string `json:"detail"`
}

type shardPlanMade struct {
	Shard   string     `json:"shard"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
	Problem string     `json:"problem,omitempty"` // why there is no plan
}

// explainPatience limits the wait for each shard's plan. At most mostExplained shards are asked.
const (
	explainPatience = 5 * time.Second
	mostExplained   = 16
)

// explain explains a statement without running it.
func (c *Console) explain(ctx context.Context, r explainRequest) (any, error) {
	tables := c.options.Proxy.Catalog()
	if tables == nil {
		return nil, errors.New("this process knows no tables, because it is no proxy: use the page of a proxy")
	}
	var lexed stmt.Lexed
	lexed.Lex([]byte(r.Statement), 0)
	if lexed.Conditional {
		lexed.Resolve(nil)
	}
	if lexed.Params > 0 {
		return nil, &ops.Invalid{Problem: "the statement has placeholders: write a value in the place of each ?"}
	}
	p, err := plan.Make(&lexed, plan.Context{Catalog: tables, Schema: r.Database})
	if err != nil {
		return nil, &ops.Invalid{Problem: fmt.Sprintf("the statement can't be planned: %v", err)}
	}
	kind := p.About().Statement.Kind
	if !slices.Contains([]stmt.Kind{stmt.Select, stmt.Insert, stmt.Replace, stmt.Update, stmt.Delete}, kind) {
		return nil, &ops.Invalid{Problem: "only SELECT, INSERT, REPLACE, UPDATE and DELETE have a plan"}
	}
	var args stmt.Args
	args.Reset(&lexed, nil)
	m, route := c.options.Proxy.Map(), plan.Route{}
	a := explainAnswer{Schema: schema, Route: []routeLine{}}
	for _, line := range plan.Explain(p, m, &plan.Values{Args: &args}, &route) {
		a.Route = append(a.Route, routeLine{line.Part, line.Detail})
	}
	a.Shards = c.explainOn(ctx, c.shardsOf(p, &route, m), r, kind == stmt.Select)
	return a, nil
}

// shardsOf returns the shards of a route. A plan without a route has all shards.
func (c *Console) shardsOf(p plan.Plan, route *plan.Route, m *router.Map) (names []router.ShardName) {
	if one, is := p.(*plan.OneShard); is {
		return []router.ShardName{one.Shard}
	}
	for _, shard := range route.Shards {
		names = append(names, m.Shard(shard))
	}
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(c.options.Proxy.Declared().Shards))
	}
	return names[:min(len(names), mostExplained)]
}

// explainOn asks the shards at the same time.
func (c *Console) explainOn(ctx context.Context, shards []router.ShardName, r explainRequest, reads bool) []shardPlanMade {
	ctx, cancel := context.WithTimeout(ctx, explainPatience)
	defer cancel()
	sql := strings.TrimRight(strings.TrimSpace(r.Statement), "; \t\r\n")
	plans := make([]shardPlanMade, len(shards))
	var asking sync.WaitGroup
	for i, shard := range shards {
		asking.Go(func() {
			made, err := c.options.Cluster.Explain(ctx, shard, r.Database, sql, reads)
			plans[i] = shardPlanMade{Shard: string(shard), Columns: made.Columns, Rows: made.Rows}
			if err != nil {
				plans[i].Problem = err.Error()
			}
		})
	}
	asking.Wait()
	return plans
}
