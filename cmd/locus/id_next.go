package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"locus/control/ops"
	"locus/idgen/cipher"
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/router/catalog"
	"locus/router/cluster"
)

func idNextCommand(in *invocation, ring func() (*cipher.Ring, error)) *cobra.Command {
	n := next{in: in}
	command := &cobra.Command{
		Use:   "next (--table SCHEMA.TABLE (--owner VALUE | --parent ID) | --generator NAME)",
		Short: "Issue IDs of a table, or numbers of a generator",
		Long: `Issue IDs of a declared table, as for an INSERT of that owner through a proxy, or
numbers of a declared generator. They are used up even if no row with them is stored.`,
		Example: `  locus id next --table shop.test_order --owner 42
  locus id next --table shop.order_item --parent 2257851525684528104 -n 3
  locus id next --generator ticket
  locus id next --generator waybill --context shop=TMAL`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			keys, err := ring()
			if err != nil {
				return err
			}
			return n.run(command.Context(), keys)
		},
	}
	flags := command.Flags()
	flags.StringVar(&n.table, "table", "", "the `schema.table`")
	flags.StringVar(&n.owner.value, "owner", "", "the owner's `value`")
	flags.StringVar(&n.parent, "parent", "", "the parent's `ID`, for a table that is routed by it")
	flags.IntVarP(&n.count, "number", "n", 1, "the `count` of them")
	flags.StringVar(&n.generator, "generator", "", "the `name` of a generator, instead of a table")
	flags.StringToStringVar(&n.context, "context", nil, "a `name=value` for {context:name:…} of a generator's template")
	command.MarkFlagsOneRequired("table", "generator")
	command.MarkFlagsMutuallyExclusive("table", "generator")
	n.owner.typeFlag(command)
	return command
}

// next holds the parameters of one call of the command.
type next struct {
	in            *invocation
	table, parent string
	generator     string
	owner         owner
	count         int
	context       map[string]string // values for a template
}

func (n *next) run(ctx context.Context, keys *cipher.Ring) error {
	if n.count < 1 || n.count > 1000 {
		return misused("-n %d: make 1 to 1000 IDs", n.count)
	}
	if n.generator == "" && len(n.context) > 0 {
		return misused("--context is for a generator's template: a table's IDs have none")
	}
	if n.generator != "" && (n.owner.value != "" || n.parent != "") {
		return misused("a generator's numbers have no owner and no parent: leave --owner and --parent out")
	}
	if n.generator != "" {
		return n.in.withCluster(ctx, func(conn *connection, c *cluster.Cluster) error { return n.showNext(ctx, conn, c, keys) })
	}
	name, err := catalog.ParseTableName(n.table)
	if err != nil {
		return usageError{err}
	}
	return n.in.withCluster(ctx, func(conn *connection, c *cluster.Cluster) error { return n.make(ctx, conn, c, name, keys) })
}

func (n *next) make(ctx context.Context, conn *connection, c *cluster.Cluster, name catalog.TableName, keys *cipher.Ring) error {
	d, declared := c.Tables[name]
	if !declared || d.ID == nil {
		return fmt.Errorf("table %s has no declared ID column: locus get tables", name)
	}
	l, err := orderid.ByName(d.ID.Layout)
	if err != nil {
		return err
	}
	widest, wide := l, d.ID.Wide()
	if !wide.IsZero() {
		widest = wide
	}
	g, err := n.gene(d, widest)
	if err != nil {
		return err
	}
	host, _ := os.Hostname() // only for people who read the key
	r := ops.IssueIDs{Table: name, Gene: g, Count: n.count, Keys: keys}
	issued, err := n.in.opsOf(conn).IssueIDs(ctx, c, r, "locus id next on "+host)
	if err != nil {
		return err
	}
	return n.print(issued, keys, c)
}

// gene returns the gene of the owner or of the parent, in the width of the layout.
func (n *next) gene(d catalog.Declaration, l orderid.Layout) (gene.Gene, error) {
	if d.Parent == nil {
		if n.parent != "" || n.owner.value == "" {
			return 0, misused("table %s is routed by its owner: give --owner, the value of %s", n.table, d.Owner)
		}
		of, _, err := n.owner.hashed()
		if err != nil {
			return 0, err
		}
		return of(l.GeneWidth()), nil
	}
	if n.parent == "" || n.owner.value != "" {
		return 0, misused("table %s is routed by its parent: give --parent, the value of %s", n.table, d.Parent.Column)
	}
	parent, err := orderid.ByName(d.Parent.Layout)
	if err != nil {
		return 0, err
	}
	id, err := parent.Parse(n.parent)
	if wide := d.Parent.Wide(); err != nil && !wide.IsZero() {
		parent = wide
		id, err = parent.Parse(n.parent)
	}
	if err != nil {
		return 0, usageError{err}
	}
	return parent.Gene(id) & l.GeneWidth().Last(), nil
}

func (n *next) print(issued ops.IssuedIDs, keys *cipher.Ring, c *cluster.Cluster) error {
	var views []idView
	rows := [][]string{{"ORDER ID", "ORDER NUMBER", "GENE", "SHARD"}}
	for i := range n.count {
		v, err := view(issued.Layout, issued.First.Plus(uint64(i)), keys, c)
		if err != nil {
			return err
		}
		if issued.Hiding == catalog.InPlace {
			v.ID, v.OrderNumber = v.OrderNumber, ""
		}
		views = append(views, v)
		rows = append(rows, []string{v.ID, v.OrderNumber, v.Gene, v.Shard})
	}
	return n.in.show(views, func(w io.Writer) { columns(w, rows) })
}
