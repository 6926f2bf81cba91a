package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"locus/control/ops"
	"locus/control/watch"
	"locus/idgen/gene"
	"locus/router"
	"locus/router/cluster"
)

func hotCommand(in *invocation) *cobra.Command {
	top, owners := 20, false
	c := &cobra.Command{
		Use:   "hot",
		Short: "Show the genes and shards with the most statements",
		Long: `Show the genes and shards with the most statements, as all proxies have counted them
in the last minutes. Statements without a key, which run on all shards, are counted
separately. With --owners, the command reads the owners of the hottest genes' rows
from the shards.`,
		Example: `  locus hot
  locus hot --top 5 --owners
  locus split --from s0 --to s2 --hottest`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if top < 1 || top > 1000 {
				return misused("--top %d: from 1 to 1000", top)
			}
			return in.hot(command.Context(), top, owners)
		},
	}
	c.Flags().IntVar(&top, "top", top, "the `number` of genes to show")
	c.Flags().BoolVar(&owners, "owners", false, "also show the owners of their rows, which are read from the shards")
	return c
}

// heat is the output of hot.
type heat struct {
	Proxies   int         `json:"proxies"`
	Silent    []string    `json:"silent,omitempty"`
	Total     float64     `json:"statements_per_second"`
	Scattered float64     `json:"without_key_per_second"`
	Shards    []shardHeat `json:"shards"`
	Genes     []geneHeat  `json:"genes"`
}

type shardHeat struct {
	Name      router.ShardName `json:"name"`
	Genes     int              `json:"genes"`
	PerSecond float64          `json:"statements_per_second"`
}

type geneHeat struct {
	Gene      string           `json:"gene"`
	Shard     router.ShardName `json:"shard"`
	PerSecond float64          `json:"statements_per_second"`
	Owners    []ops.OwnerRows  `json:"owners,omitempty"`
	gene      gene.Gene
}

func (in *invocation) hot(ctx context.Context, top int, owners bool) error {
	return in.withCluster(ctx, func(conn *connection, c *cluster.Cluster) error {
		loads, err := ops.MeasureLoad(ctx, conn.kv, c.Routes.Width())
		if err != nil {
			return err
		}
		h := heatOf(loads, c, top)
		if owners {
			if err := h.findOwners(ctx, c, in.opsOf(conn)); err != nil {
				return err
			}
		}
		return in.show(h, func(w io.Writer) { h.print(w, loads) })
	})
}

func heatOf(l *ops.Load, c *cluster.Cluster, top int) *heat {
	m := c.Routes
	h := &heat{Proxies: l.Proxies, Silent: l.Silent, Scattered: l.Scattered, Genes: []geneHeat{}}
	for _, name := range c.ShardNames() {
		genes := m.GenesOf(name)
		s := shardHeat{name, genes.Len(), l.Of(genes)}
		h.Total += s.PerSecond
		h.Shards = append(h.Shards, s)
	}
	var all []geneHeat
	for g := gene.Gene(0); g <= m.Width().Last(); g++ {
		if rate := l.At(g); rate > 0 {
			all = append(all, geneHeat{Gene: g.Format(m.Width()), Shard: m.Shard(m.Lookup(g)), PerSecond: rate, gene: g})
		}
	}
	slices.SortStableFunc(all, func(a, b geneHeat) int { return cmp.Compare(b.PerSecond, a.PerSecond) })
	h.Genes = append(h.Genes, all[:min(top, len(all))]...)
	return h
}

func (h *heat) print(w io.Writer, l *ops.Load) {
	fmt.Fprintf(w, "%s statements/s with a key, %s without, %s\n\n", watch.Rate(h.Total), watch.Rate(h.Scattered), whose(l))
	rows := [][]string{{"SHARD", "GENES", "STATEMENTS/S", "SHARE"}}
	for _, s := range h.Shards {
		rows = append(rows, []string{string(s.Name), fmt.Sprint(s.Genes), watch.Rate(s.PerSecond), part(s.PerSecond, h.Total)})
	}
	columns(w, rows)
	if len(h.Genes) == 0 {
		return
	}
	fmt.Fprintln(w)
	rows = [][]string{{"GENE", "SHARD", "STATEMENTS/S", "SHARE"}}
	withOwners := slices.ContainsFunc(h.Genes, func(g geneHeat) bool { return g.Owners != nil })
	if withOwners {
		rows[0] = append(rows[0], "OWNERS, BY ROWS")
	}
	for _, g := range h.Genes {
		row := []string{g.Gene, string(g.Shard), watch.Rate(g.PerSecond), part(g.PerSecond, h.Total)}
		if withOwners {
			text := ""
			for i, o := range g.Owners {
				if i > 0 {
					text += ", "
				}
				text += fmt.Sprintf("%s of %s (%s)", o.Owner, o.Table, o.Rows)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	columns(w, rows)
}

// genesWithOwners is the number of genes whose owners are searched.
const genesWithOwners = 20

// findOwners queries the shards for the owners of the rows in the hottest genes.
func (h *heat) findOwners(ctx context.Context, c *cluster.Cluster, o *ops.Ops) error {
	var genes []gene.Gene
	for _, g := range h.Genes[:min(len(h.Genes), genesWithOwners)] {
		genes = append(genes, g.gene)
	}
	owners, err := o.OwnersOf(ctx, c, genes)
	for i := range owners {
		h.Genes[i].Owners = owners[i]
	}
	return err
}
