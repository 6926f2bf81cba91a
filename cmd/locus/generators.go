package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locus/control/fleet"
	"locus/control/generators"
	"locus/router/cluster"
)

func generatorsCommand(in *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "generators [NAME]",
		Short: "List the generators and their state in each proxy",
		Long: `List the declared generators, and their state in each proxy that has used them: the
members with their states and errors, the share of numbers that is left, the number of
loaded segments, and the state of the circuit breaker of a server in front. A proxy
opens a generator at its first use. Tables whose counters have a Redis in front follow
at the end of the list.`,
		Example: `  locus generators
  locus generators bill -o json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return in.withCluster(command.Context(), func(conn *connection, c *cluster.Cluster) error {
				return in.generators(command.Context(), conn, c, args)
			})
		},
	}
}

// fleetView is the output for all generators.
type fleetView struct {
	Generators []generators.Standing `json:"generators"`
	Silent     []string              `json:"silent,omitempty"` // proxies that did not answer
}

func (in *invocation) generators(ctx context.Context, conn *connection, c *cluster.Cluster, args []string) error {
	if len(args) > 0 {
		if _, err := declaredGenerator(c, args[0]); err != nil {
			return err
		}
	}
	answers, err := fleet.Ask[[]generators.Report](ctx, conn.kv, fleet.Generators, answerPatience)
	if err != nil {
		return err
	}
	v := fleetView{Silent: answers.Silent, Generators: generators.Standings(c, answers.By)}
	if len(args) > 0 {
		v.Generators = slices.DeleteFunc(v.Generators, func(g generators.Standing) bool { return g.Name != args[0] })
	}
	return in.show(v, func(w io.Writer) { v.print(w) })
}

func (v fleetView) print(w io.Writer) {
	rows := [][]string{{"GENERATOR", "KIND", "OF", "PROXY", "LEFT", "LOADS", "MEMBERS AND SERVERS"}}
	for _, g := range v.Generators {
		first := []string{g.Name, g.Kind, strings.Join(g.Of, ", ")}
		if len(g.Proxies) == 0 {
			rows = append(rows, append(first, "-", "", "", "not used yet"))
		}
		for _, p := range g.Proxies {
			rows = append(rows, append(slices.Clone(first), p.Proxy, left(p.Report), loads(p.Report), states(p.Report)))
		}
	}
	columns(w, rows)
	for _, g := range v.Generators {
		for _, p := range g.Proxies {
			for _, m := range p.Members {
				if m.Error != "" {
					fmt.Fprintf(w, "%s of %s in %s: %s\n", m.Name, m.Of, p.Proxy, m.Error)
				}
			}
		}
	}
	for _, proxy := range v.Silent {
		fmt.Fprintf(w, "proxy %s did not answer\n", proxy)
	}
}

// left describes the field with the smallest remaining share.
func left(g generators.Report) string {
	field, least := "", 2.0
	for _, name := range slices.Sorted(maps.Keys(g.Left)) {
		if g.Left[name] < least {
			field, least = name, g.Left[name]
		}
	}
	if field == "" {
		return ""
	}
	return fmt.Sprintf("%.4g %% of %s", 100*least, field)
}

func loads(g generators.Report) string {
	if g.Loads+g.Failed == 0 {
		return ""
	}
	return fmt.Sprintf("%d, %d failed, %d waited", g.Loads, g.Failed, g.Waits)
}

func states(g generators.Report) string {
	var list []string
	for _, m := range g.Members {
		list = append(list, m.Name+" "+m.State)
	}
	for _, before := range slices.Sorted(maps.Keys(g.Breakers)) {
		for _, state := range slices.Sorted(maps.Keys(g.Breakers[before])) {
			if n := g.Breakers[before][state]; n > 0 {
				list = append(list, fmt.Sprintf("%s %s (%d)", before, state, n))
			}
		}
	}
	return strings.Join(list, ", ")
}
