package orders

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"locus/config/etcd"
	"locus/control/declared"
	"locus/control/fitting"
	"locus/control/fleet"
	"locus/proxy/meter"
	"locus/proxy/schema"
	"locus/router/catalog"
	"locus/router/cluster"
	"locus/router/plan"
	"locus/router/stmt"
)

// Refusals are the statements which proxies have counted that would be refused while genes are divided, with the reasons. What
// they have seen and not counted by itself, or as no whole text, is not among them.
func Refusals(ctx context.Context, kv *etcd.KV, logIn LogIn, c *cluster.Cluster) ([]string, error) {
	seen, err := fleet.StatementsOf(ctx, kv, fleet.Statements)
	if err != nil {
		return nil, fmt.Errorf("ask the proxies for the statements that they have counted: %w", err)
	}
	shards, err := fitting.Open(logIn.Secrets, logIn.Connect, nil, c)
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

// mostForetold are told beside the answer of a CALL: as many as servers keep warnings.
const mostForetold = 64

// foretold says which of the statements that clients have sent will be refused while the genes of a new job are divided, or that this is
// not known: the job is there either way.
func (c *call) foretold(ctx context.Context) []string {
	now, err := declared.Current(ctx, c.kv)
	var refused []string
	if err == nil {
		refused, err = Refusals(ctx, c.kv, c.logIn, now)
	}
	if err != nil {
		return []string{fmt.Sprintf("whether statements will be refused while the genes are divided is not known: %v", err)}
	}
	var told []string
	for _, line := range refused[:min(len(refused), mostForetold)] {
		told = append(told, "will be refused while the genes are divided: "+line)
	}
	return told
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
