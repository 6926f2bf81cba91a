package ops

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"locus/control/fitting"
	"locus/control/fleet"
	"locus/proxy/meter"
	"locus/proxy/schema"
	"locus/router/catalog"
	"locus/router/cluster"
	"locus/router/plan"
	"locus/router/stmt"
)

// divided returns a warning for each statement that proxies have counted and that will be refused while the rows of genes are divided,
// or one warning that this is not known. The job starts either way. Statements that are not counted by themselves, or not with their
// whole text, are not among them.
func (o *Ops) divided(ctx context.Context, c *cluster.Cluster) []string {
	refused, err := o.refusedWhileDivided(ctx, c)
	if err != nil {
		return []string{fmt.Sprintf("it is not known which statements will be refused while the genes are divided: %v", err)}
	}
	for i, line := range refused {
		refused[i] = "will be refused while the genes are divided: " + line
	}
	return refused
}

func (o *Ops) refusedWhileDivided(ctx context.Context, c *cluster.Cluster) ([]string, error) {
	seen, err := fleet.StatementsOf(ctx, o.kv, fleet.Statements)
	if err != nil {
		return nil, fmt.Errorf("ask the proxies for the statements that they have counted: %w", err)
	}
	shards, err := fitting.Open(o.secrets, o.connect, nil, c)
	if err != nil {
		return nil, errors.Join(err, ErrNoSecrets)
	}
	defer shards.Close(context.WithoutCancel(ctx))
	loaded, err := schema.Load(ctx, shards.Of(c), c)
	if err != nil {
		return nil, err
	}
	return refusals(seen.Digests, loaded.Catalog), nil
}

func refusals(seen []meter.Figures, tables *catalog.Catalog) (lines []string) {
	for _, d := range seen {
		if strings.HasSuffix(d.Text, "…") { // not all of it
			continue
		}
		var lexed stmt.Lexed
		lexed.Lex([]byte(d.Text), 0)
		p, err := plan.Make(&lexed, plan.Context{Catalog: tables, Schema: d.Database})
		if err != nil {
			continue // it is refused already
		}
		if why := plan.DividedRefusal(p); why != nil {
			lines = append(lines, fmt.Sprintf("%s: %s (%d times so far)", d.Text, why.Message, d.Count))
		}
	}
	return lines
}
