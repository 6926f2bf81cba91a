package ops

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"locus/control/advise"
	"locus/control/declared"
	"locus/control/fitting"
	"locus/control/fleet"
	"locus/proxy/schema"
	"locus/router/cluster"
	"locus/router/plan"
	"locus/router/stmt"
)

// ExplainStatement requests how the proxies would run a statement.
type ExplainStatement struct {
	Database  string // the current one; empty: all tables are named with their database
	Statement string
}

// ExplainLine is one line of a plan.
type ExplainLine struct {
	Part   string `json:"part"`
	Detail string `json:"detail"`
}

// Explain plans a statement for the declared cluster, with the columns that the tables have on the shards. The statement does not run.
func (o *Ops) Explain(ctx context.Context, r ExplainStatement) (lines []ExplainLine, err error) {
	c, shards, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	defer shards.Close(context.WithoutCancel(ctx))
	loaded, err := schema.Load(ctx, shards.Of(c), c)
	if err != nil {
		return nil, err
	}
	var lexed stmt.Lexed
	lexed.Lex([]byte(r.Statement), 0)
	if lexed.Conditional { // the shards must agree on it, whatever their versions
		lexed.Resolve(nil)
	}
	if err := databasesNamed(&lexed, r.Database, c); err != nil {
		return nil, err
	}
	p, err := plan.Make(&lexed, plan.Context{Catalog: loaded.Catalog, Schema: r.Database})
	if err != nil {
		return nil, fmt.Errorf("refused: %w", err)
	}
	var args stmt.Args
	args.Reset(&lexed, nil)
	for _, line := range plan.Explain(p, c.Routes, &plan.Values{Args: &args}, &plan.Route{}) {
		lines = append(lines, ExplainLine{line.Part, line.Detail})
	}
	return lines, nil
}

// databasesNamed returns an error if there is no current database and the statement names a table without its database, because the
// plan depends on it.
func databasesNamed(lexed *stmt.Lexed, database string, c *cluster.Cluster) error {
	if database != "" {
		return nil
	}
	s, err := stmt.Parse(lexed)
	if err != nil {
		return nil // planning returns a better error
	}
	for _, name := range s.Named() {
		if name.Schema != "" {
			continue
		}
		mean := ""
		for _, table := range c.TableNames() {
			if strings.EqualFold(table.Name, name.Name) {
				mean = fmt.Sprintf(": did you mean %s?", table)
			}
		}
		return invalid("table %s is named without its database: write it before the name, or give --database%s", name.Name, mean)
	}
	return nil
}

// open opens the shards of the declared cluster. It dials none before the first query.
func (o *Ops) open(ctx context.Context) (*cluster.Cluster, *fitting.Shards, error) {
	c, err := declared.Current(ctx, o.kv)
	if err != nil {
		return nil, nil, err
	}
	shards, err := fitting.Open(o.secrets, o.connect, nil, c)
	if err != nil {
		return nil, nil, errors.Join(err, ErrNoSecrets)
	}
	return c, shards, nil
}

// Counted adds the statements that the proxies have counted to a workload, and returns the schema for which they are
// evaluated.
func (o *Ops) Counted(ctx context.Context, w *advise.Workload) (*cluster.Cluster, *advise.Schema, error) {
	cost, err := fleet.StatementsOf(ctx, o.kv, fleet.Statements)
	if err != nil {
		return nil, nil, err
	}
	if cost.Proxies == 0 {
		return nil, nil, NoProxy(cost.Silent)
	}
	c, shards, err := o.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer shards.Close(context.WithoutCancel(ctx))
	s, err := advise.ReadSchema(ctx, shards.Of(c)[c.Settings.DefaultShard])
	if err != nil {
		return nil, nil, err
	}
	s.Width = c.Settings.GeneBits
	w.Counted(cost.Report, cost.Proxies)
	return c, s, nil
}
