package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"locus/control/ops"
	"locus/router/catalog"
	"locus/router/cluster"
)

func tableCommand(in *invocation) *cobra.Command {
	group := groupCommand("table", "List the declared tables, add and remove declarations")
	group.AddCommand(tableListCommand(in), tableShowCommand(in), tableAddCommand(in), tableDropCommand(in))
	return group
}

func tableListCommand(in *invocation) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the declared tables",
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
		Short:   "Print the declaration of a table, also as a comment",
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

// declaredTable is the output for one table.
type declaredTable struct {
	Table       string `json:"table"`
	Kind        string `json:"kind"`
	Words       string `json:"words"`
	Declaration any    `json:"declaration"`
}

func (in *invocation) showTable(c *cluster.Cluster, text string) error {
	name, d, err := ops.Declared(c.Tables, text)
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
		if d.Kind != catalog.Single && d.Kind != catalog.Outside { // comments can't express these kinds
			fmt.Fprintf(w, "COMMENT 'locus: %s'\n", v.Words)
		}
	})
}

// tableChange is one call of a command that changes the declaration of a table.
type tableChange struct{ application }

func (t *tableChange) flags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&t.dryRun, "dry-run", false, "check and print what would be changed; write nothing")
	f.StringVar(&t.by, "by", "", "the `name` of who changes the cluster (default: you, on this host)")
}

func tableAddCommand(in *invocation) *cobra.Command {
	t := &tableChange{application{in: in}}
	c := &cobra.Command{
		Use:   "add TABLE WORD...",
		Short: "Declare a table of the shards, in the words of a comment",
		Long: `Declare a table, in the words that follow "locus:" in a comment of CREATE TABLE:
global; or shard=s1; or for a sharded table owner= or parent=, and id=, order_no=, gene_text=,
gene=, version=, layout=, parent_layout=, overflow=, parent_overflow=, hidden,
stamped.COLUMN=GENERATOR.

The table must exist on every shard, or with shard= on that shard. It is checked as by
locus apply: a table with rows is refused, unless each row is on the shard of its owner.
When the command ends, all proxies use the declaration.`,
		Example: `  locus table add shop.test_order owner=buyer_uid id=order_id order_no=order_no
  locus table add shop.country global`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			r := ops.TableWords{Table: args[0], Words: strings.Join(args[1:], " ")}
			return t.run(command.Context(), "", func(o *ops.Ops) (*ops.TableChange, error) {
				return o.PlanAddTable(command.Context(), r, t.operator())
			})
		},
	}
	t.flags(c)
	return c
}

func tableDropCommand(in *invocation) *cobra.Command {
	t := &tableChange{application{in: in}}
	c := &cobra.Command{
		Use:   "drop TABLE",
		Short: "Remove the declaration of a table; the table itself stays",
		Long: `Remove the declaration of a table. The table stays, and must have no rows on other
shards than the default one, because nothing would read them there. The declaration in
its comment is ignored until a statement repeats it.`,
		Example: "  locus table drop shop.country",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			question := fmt.Sprintf("Table %s: remove its declaration?", args[0])
			return t.run(command.Context(), question, func(o *ops.Ops) (*ops.TableChange, error) {
				return o.PlanDropTable(command.Context(), ops.DropTable{Table: args[0]}, t.operator())
			})
		},
	}
	t.flags(c)
	in.addYes(c)
	return c
}

// run plans a change, shows and checks it, and writes it unless it is a dry run. If question is empty, it does
// not ask for confirmation.
func (t *tableChange) run(ctx context.Context, question string, plan func(*ops.Ops) (*ops.TableChange, error)) error {
	return t.in.withCluster(ctx, func(conn *connection, _ *cluster.Cluster) error {
		o := t.in.opsOf(conn)
		change, err := plan(o)
		if err != nil {
			return err
		}
		if change.Unreadable {
			return t.remove(ctx, o, change, question)
		}
		if err := t.begin(&change.Change, question); err != nil {
			return err
		}
		err = o.CheckTable(ctx, change, t.progress())
		t.warn(change.Warnings)
		if err != nil {
			return err
		}
		t.printMade(change.Lacking)
		if t.dryRun {
			return t.print(&change.Change, false)
		}
		effect, err := o.WriteTable(ctx, change)
		return errors.Join(t.printEffect(&change.Change, effect, err), err)
	})
}

// remove removes a declaration that can't be used.
func (t *tableChange) remove(ctx context.Context, o *ops.Ops, change *ops.TableChange, question string) error {
	if t.dryRun {
		return t.print(&change.Change, false)
	}
	if err := t.in.confirm("%s", question); err != nil {
		return err
	}
	_, err := o.WriteTable(ctx, change)
	return err
}
