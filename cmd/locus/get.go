package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"locus/router/catalog"
	"locus/router/cluster"
)

func getCommand(in *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "get [settings|shards|tables|users|routes]",
		Short: "Print what the cluster declares",
		Long: `Print what the cluster declares. Without an argument it is the whole cluster as
the file that locus apply reads.`,
		Example: `  locus get > cluster.yaml
  locus get shards
  locus get tables -o json`,
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"settings", "shards", "tables", "users", "routes"},
		RunE: func(command *cobra.Command, args []string) error {
			c, err := in.declaredCluster(command.Context())
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return in.printCluster(c)
			}
			return in.printPart(command.Context(), c, args[0])
		},
	}
}

// printCluster prints the file. The output format table prints it too.
func (in *invocation) printCluster(c *cluster.Cluster) error {
	text := cluster.Format(c)
	if in.output != asJSON {
		_, err := in.stdout.Write(text)
		return err
	}
	v, err := fromYAML(text)
	if err != nil {
		return err
	}
	return in.show(v, nil)
}

func (in *invocation) printPart(_ context.Context, c *cluster.Cluster, part string) error {
	if part == "routes" {
		return in.printRoutes(c)
	}
	rows := map[string]func(*cluster.Cluster) [][]string{
		"settings": settingsRows, "shards": shardRows, "tables": tableRows, "users": userRows,
	}[part](c)
	whole, err := fromYAML(cluster.Format(c))
	if err != nil {
		return err
	}
	v := whole.(map[string]any)[part]
	if v == nil {
		v = map[string]any{}
	}
	return in.show(v, func(w io.Writer) { columns(w, rows) })
}

func settingsRows(c *cluster.Cluster) [][]string {
	s := c.Settings
	rows := [][]string{
		{"SETTING", "VALUE"},
		{"gene_bits", strconv.Itoa(int(s.GeneBits))},
		{"hash", s.Hash},
		{"counter_groups", strconv.Itoa(s.CounterGroups)},
		{"default_shard", string(s.DefaultShard)},
	}
	if s.RotateKeysEvery != "" {
		rows = append(rows, []string{"rotate_keys_every", s.RotateKeysEvery})
	}
	return rows
}

func shardRows(c *cluster.Cluster) [][]string {
	rows := [][]string{{"SHARD", "ADDRESS", "USER", "SECRET", "TLS", "GENES"}}
	all := int(c.Settings.GeneBits.Last()) + 1
	for _, name := range c.ShardNames() {
		s := c.Shards[name]
		genes := c.Routes.GenesOf(name).Len()
		rows = append(rows, []string{
			string(name), s.Address, s.User, s.Secret, string(s.TLS),
			fmt.Sprintf("%d (%.4g %%)", genes, 100*float64(genes)/float64(all)),
		})
	}
	return rows
}

func tableRows(c *cluster.Cluster) [][]string {
	rows := [][]string{{"TABLE", "KIND", "ROUTED BY", "ID", "ORDER NUMBER", "GENE", "VERSION", "SHARD"}}
	for _, name := range c.TableNames() {
		d := c.Tables[name]
		by := d.Owner
		if d.Parent != nil {
			by = idColumn(d.Parent)
		}
		rows = append(rows, []string{
			name.String(), string(d.Kind), by, idColumn(d.ID), d.OrderNumber, d.Gene, d.Version, string(d.Shard),
		})
	}
	return rows
}

func idColumn(id *catalog.IDColumn) string {
	if id == nil {
		return ""
	}
	if id.Hidden {
		return id.Column + " (" + id.Layouts() + ", hidden)"
	}
	return id.Column + " (" + id.Layouts() + ")"
}

func userRows(c *cluster.Cluster) [][]string {
	rows := [][]string{{"USER", "LOGS IN WITH", "TLS", "MAY USE", "BOUNDS"}}
	for _, name := range c.UserNames() {
		u := c.Users[name]
		with := "secret " + u.Secret
		if u.Secret == "" {
			with = "authentication_string"
		}
		use := strings.Join(append(slices.Clone(u.Databases), u.Tables...), ", ")
		rows = append(rows, []string{name, with, string(cmp.Or(u.TLS, cluster.TLSOptional)), cmp.Or(use, "everything"), bounds(u)})
	}
	return rows
}

// bounds describes the limits of a user's rights.
func bounds(u cluster.User) string {
	var words []string
	add := func(there bool, format string, args ...any) {
		if there {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	add(u.Admin, "admin")
	add(u.ReadOnly, "read only")
	add(u.DDL != nil && !*u.DDL, "no DDL")
	add(u.Scatter != "", "scatter: %s", u.Scatter)
	add(u.ScatterWrites != "", "scatter writes: %s", u.ScatterWrites)
	add(u.Unfiltered != "", "unfiltered: %s", u.Unfiltered)
	add(u.Read != "", "reads the %s", u.Read)
	add(u.MaxConnections > 0, "%d connections", u.MaxConnections)
	if limit := u.Timeout(); limit != nil {
		add(*limit > 0, "statements end after %s", u.StatementTimeout)
		add(*limit == 0, "statements take as long as they take")
	}
	return strings.Join(words, ", ")
}
