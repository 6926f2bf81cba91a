package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locus/config/strict"
	"locus/control/declared"
	"locus/control/doctor"
	"locus/control/fleet"
	"locus/control/ops"
	"locus/router/catalog"
	"locus/router/cluster"
)

func tableCommand(in *invocation) *cobra.Command {
	group := groupCommand("table", "Look at the tables that are declared, and declare one or take a declaration away")
	group.AddCommand(tableListCommand(in), tableShowCommand(in), tableAddCommand(in), tableDropCommand(in))
	return group
}

func tableListCommand(in *invocation) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the tables that are declared",
		Example: "  locus table list\n  locus table list -o json",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			c, err := in.declaredCluster(command.Context())
			if err != nil {
				return err
			}
			return in.printPart(command.Context(), c, "tables")
		},
	}
}

func tableShowCommand(in *invocation) *cobra.Command {
	return &cobra.Command{
		Use:     "show TABLE",
		Short:   "Print how a table is declared, and the comment that says so",
		Example: "  locus table show shop.test_order",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			c, err := in.declaredCluster(command.Context())
			if err != nil {
				return err
			}
			return in.showTable(c, args[0])
		},
	}
}

// declaredTable is what is printed of one.
type declaredTable struct {
	Table       string `json:"table"`
	Kind        string `json:"kind"`
	Words       string `json:"words"`
	Declaration any    `json:"declaration"`
}

func (in *invocation) showTable(c *cluster.Cluster, text string) error {
	name, d, err := namedTable(c.Tables, text)
	if err != nil {
		return err
	}
	only := *c
	only.Tables = map[catalog.TableName]catalog.Declaration{name: d}
	whole, err := fromYAML(cluster.Format(&only))
	if err != nil {
		return err
	}
	v := declaredTable{name.String(), string(d.Kind), d.Words(), whole.(map[string]any)["tables"].(map[string]any)[name.String()]}
	return in.show(v, func(w io.Writer) {
		columns(w, tableRows(&only))
		if d.Kind != catalog.Single && d.Kind != catalog.Outside { // which comments don't say
			fmt.Fprintf(w, "COMMENT 'locus: %s'\n", v.Words)
		}
	})
}

func namedTable(tables map[catalog.TableName]catalog.Declaration, text string) (name catalog.TableName, d catalog.Declaration, err error) {
	if name, err = catalog.ParseTableName(text); err != nil {
		return name, d, usageError{err}
	}
	d, is := tables[name]
	if !is {
		var names []string
		for n := range maps.Keys(tables) {
			names = append(names, n.String())
		}
		slices.Sort(names)
		return name, d, fmt.Errorf("table %s is not declared%s", name, strict.DidYouMean(text, names))
	}
	return name, d, nil
}

// tableChange is one call of a command that changes what is declared of a table.
type tableChange struct {
	application
	yes bool
}

func (t *tableChange) flags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&t.dryRun, "dry-run", false, "only check and say what would be changed")
	f.StringVar(&t.by, "by", "", "the `name` of who changes the cluster (default: you, on this host)")
}

func tableAddCommand(in *invocation) *cobra.Command {
	t := &tableChange{application: application{in: in, remedy: ops.DeclaredByImport}}
	c := &cobra.Command{
		Use:   "add TABLE WORD...",
		Short: "Declare a table that is on the shards, in the words of a comment",
		Long: `Declare a table, in the words that a comment of CREATE TABLE has behind "locus:":
global; or shard=s1; or of a sharded table owner= or parent=, and id=, order_no=, gene_text=,
gene=, version=, layout=, parent_layout=, overflow=, parent_overflow=, hidden,
stamped.COLUMN=GENERATOR.

The table must be on every shard (of one with shard=, on that shard), and is checked as
locus apply checks it: a table with rows is refused, unless each row is where its owner
says. The proxies know of it when the command ends.`,
		Example: `  locus table add shop.test_order owner=buyer_uid id=order_id order_no=order_no
  locus table add shop.country global`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			return t.run(command.Context(), func(tables map[catalog.TableName]catalog.Declaration) error {
				return addTable(tables, args[0], args[1:])
			})
		},
	}
	t.flags(c)
	return c
}

func addTable(tables map[catalog.TableName]catalog.Declaration, text string, words []string) error {
	name, err := catalog.ParseTableName(text)
	if err != nil {
		return usageError{err}
	}
	d, err := catalog.ParseWords(strings.Join(words, " "))
	if err != nil {
		return usageError{fmt.Errorf("table %s: %w", name, err)}
	}
	return ops.Add(tables, name, d)
}

func tableDropCommand(in *invocation) *cobra.Command {
	t := &tableChange{application: application{in: in, remedy: ops.NoRowsElsewhere}}
	c := &cobra.Command{
		Use:   "drop TABLE",
		Short: "Take a table's declaration away; the table itself stays",
		Long: `Take a table's declaration away. The table stays where it is, and must have no rows
on other shards than the default one: nobody would look for them there. What its comment
declares counts for nothing then, until a statement says it again.`,
		Example: "  locus table drop shop.country",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if !t.dryRun {
				if err := in.confirm("Table %s: take its declaration away?", args[0]); err != nil {
					return err
				}
			}
			if removed, err := t.removeUnreadable(command.Context(), args[0]); removed || err != nil {
				return err
			}
			return t.run(command.Context(), func(tables map[catalog.TableName]catalog.Declaration) error {
				name, _, err := namedTable(tables, args[0])
				if err != nil {
					return err
				}
				delete(tables, name)
				return nil
			})
		},
	}
	t.flags(c)
	in.addYes(c)
	return c
}

// removeUnreadable removes a declaration that can't be used, and reports whether there was one.
func (t *tableChange) removeUnreadable(ctx context.Context, table string) (removed bool, err error) {
	if t.dryRun {
		return false, nil
	}
	err = t.in.withCluster(ctx, func(conn *connection, c *cluster.Cluster) (err error) {
		removed, err = doctor.RemoveTable(ctx, conn.kv, c, table, t.stamp().By, t.in.now())
		return err
	})
	return removed, err
}

// run changes the tables alone, and waits until all proxies know.
func (t *tableChange) run(ctx context.Context, change func(map[catalog.TableName]catalog.Declaration) error) error {
	return t.in.withState(ctx, func(conn *connection, state *declared.State) error {
		next, err := state.WithTables(change)
		if err != nil {
			return err
		}
		if err := t.succeed(ctx, conn, state, next); err != nil || t.dryRun {
			return err
		}
		if err := fleet.TellRedefined(ctx, conn.kv, fleet.RedefinedPatience); err != nil {
			return fmt.Errorf("it is written, and not known to every proxy yet: %w; locus proxies list shows them", err)
		}
		return nil
	})
}
