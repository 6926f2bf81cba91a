package main

import (
	"context"
	"fmt"
	"net/http"

	"locus/config"
	"locus/control/console"
	"locus/control/declared"
	"locus/control/fleet"
	"locus/control/jobs"
	"locus/idgen/gene"
	"locus/proxy/meter"
	"locus/router"
)

// shared is what the dashboard reads and writes of the cluster.
type shared struct {
	*jobs.Store
	conn *connection
}

var _ console.Cluster = shared{}

func (s shared) Cards(ctx context.Context) ([]fleet.Card, error) { return fleet.Cards(ctx, s.conn.kv) }

func (s shared) Load(ctx context.Context, w gene.Width) (*meter.Loads, error) {
	m, err := measure(ctx, s.conn.kv, w)
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
		if rows[name], err = estimate(ctx, s.Store, c, name); err != nil {
			return nil, fmt.Errorf("estimate the rows on %s: %w", name, err)
		}
	}
	return rows, nil
}

// given is how generators' numbers are given over HTTP.
func given(c *config.Config, api console.Generators) console.Generators {
	if c.Does(config.IDsTask) {
		return api
	}
	return withheld{api}
}

// withheld gives none: the process has them for its own statements alone.
type withheld struct{ console.Generators }

func (withheld) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "numbers are not given here: this process has not the role ids", http.StatusNotFound)
}

// httpAccounts is who may log in over HTTP.
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
