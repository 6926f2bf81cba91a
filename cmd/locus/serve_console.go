package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"locus/config"
	"locus/config/etcd"
	"locus/control/console"
	"locus/control/declared"
	"locus/control/events"
	"locus/control/fleet"
	"locus/control/generators"
	"locus/control/jobs"
	"locus/control/ops"
	"locus/control/overview"
	"locus/idgen/gene"
	"locus/proxy/meter"
	"locus/router"
	"locus/router/cluster"
)

// shared gives the dashboard access to the cluster.
type shared struct {
	*jobs.Store
	in   *invocation
	conn *connection
}

var _ console.Cluster = shared{}

func (s shared) Cards(ctx context.Context) ([]fleet.Card, error) { return fleet.Cards(ctx, s.conn.kv) }

// answerPatience limits the wait for the answers of other processes.
const answerPatience = 3 * time.Second

// beatPatience is short, because a page waits for the slowest proxy.
const beatPatience = time.Second

func (s shared) Beats(ctx context.Context, fresh time.Duration) (fleet.Answers[fleet.Beat], error) {
	return fleet.BeatsLately(ctx, s.conn.kv, fresh, beatPatience)
}

func (s shared) Statements(ctx context.Context) (fleet.Cost, error) {
	return fleet.StatementsOf(ctx, s.conn.kv, fleet.Statements)
}

func (s shared) Digest(ctx context.Context, database, hash string) (fleet.DigestCost, error) {
	return fleet.DigestCostOf(ctx, s.conn.kv, database, hash)
}

func (s shared) TableSizes(ctx context.Context, shard router.ShardName) ([]ops.TableSize, error) {
	return ops.TableSizes(ctx, s.Store, shard)
}

func (s shared) Explain(ctx context.Context, shard router.ShardName, database, sql string, reads bool) (ops.ServerPlan, error) {
	return ops.ExplainOn(ctx, s.Store, shard, database, sql, reads)
}

func (s shared) Sessions(ctx context.Context) (fleet.SessionList, error) {
	return fleet.SessionsOf(ctx, s.conn.kv)
}

func (s shared) Generators(ctx context.Context) (fleet.Answers[[]generators.Report], error) {
	return fleet.Ask[[]generators.Report](ctx, s.conn.kv, fleet.Generators, answerPatience)
}

func (s shared) Timeline(ctx context.Context, q events.Query) (events.Page, error) {
	return events.Read(ctx, s.conn.kv, q)
}

func (s shared) Members(ctx context.Context) []etcd.Health { return s.conn.client.Health(ctx) }

func (s shared) Examine(ctx context.Context) error {
	c, err := declared.Current(ctx, s.conn.kv)
	if err != nil {
		return err
	}
	report, err := s.in.examine(ctx, s.conn, c)
	if err != nil {
		return err
	}
	return report.Keep(ctx, s.conn.kv)
}

func (s shared) Notes(ctx context.Context) (overview.Notes, error) {
	return overview.ReadNotes(ctx, s.conn.kv, time.Now())
}

func (s shared) Routes(ctx context.Context) ([]cluster.Version, error) {
	versions, err := declared.History(ctx, s.conn.kv)
	if versions != nil { // doctor reports versions that can't be read
		return versions, nil
	}
	return nil, err
}

func (s shared) Load(ctx context.Context, w gene.Width) (*meter.Loads, error) {
	m, err := ops.MeasureLoad(ctx, s.conn.kv, w)
	if err != nil {
		return nil, err
	}
	return m.Loads, nil
}

func (s shared) Rows(ctx context.Context) (map[router.ShardName]float64, error) {
	c, err := declared.Current(ctx, s.conn.kv)
	if err != nil {
		return nil, err
	}
	rows := map[router.ShardName]float64{}
	for _, name := range c.ShardNames() {
		if rows[name], err = ops.EstimateRows(ctx, s.Store, c, name); err != nil {
			return nil, fmt.Errorf("estimate the rows on %s: %w", name, err)
		}
	}
	return rows, nil
}

// given returns the generators that are served over HTTP, according to the configuration.
func given(c *config.Config, api console.Generators) console.Generators {
	if c.Does(config.IDsTask) {
		return api
	}
	return withheld{api}
}

// withheld serves no numbers over HTTP. The process uses the generators only for its own statements.
type withheld struct{ console.Generators }

func (withheld) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "this process does not have the role ids, so it issues no numbers", http.StatusNotFound)
}

// httpAccounts returns the accounts that may log in over HTTP.
func httpAccounts(c *config.Config) []console.Account {
	var accounts []console.Account
	if c.HTTP.Listen == "" {
		return nil
	}
	if path := c.HTTP.PasswordFile; path != "" {
		accounts = append(accounts, console.Account{
			User: c.HTTP.User, Role: config.Admin, Password: func() (string, error) { return config.ReadSecret(path) },
		})
	}
	for _, a := range c.HTTP.Accounts {
		accounts = append(accounts, console.Account{
			User: a.User, Role: a.Role, Password: func() (string, error) { return c.Secrets.Lookup(a.Secret) },
		})
	}
	return accounts
}
