package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"locus/control/ops"
)

func repairCommand(in *invocation) *cobra.Command {
	var take, rows string
	var how sending
	c := &cobra.Command{
		Use:   "repair JOB [--take source|target|newer] [--rows ROWS]",
		Short: "Repair rows that a job's comparison found different, or list them",
		Long: `Repair rows that a comparison of a job found different, because something wrote to a
shard without a proxy. The job has failed because of them, and continues once they are
equal. Without --take, the command lists the rows of both shards, and which one is newer
by its version.

--take selects the row that stays: that of the source, of the target, or the newer one,
which requires a version column and a row on both shards. Each row is repaired in a
transaction of its own. If one of the two rows has changed since it was listed, nothing
is changed, and the row is listed again. Both rows are kept in locus.move_repair on the
changed shard. The process that runs the job makes the repairs while clients write.`,
		Example: `  locus repair split-1
  locus repair split-1 --take newer --dry-run
  locus repair split-1 --take source --rows 3,7-9 --yes`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			r := ops.Repair{OfJob: ops.OfJob{Job: args[0]}, Take: ops.Take(take), Rows: rows}
			if take == "" || how.dryRun {
				return in.printDifferences(command.Context(), r)
			}
			return in.send(command.Context(), r, "Job JOB: COMMAND? The other row of each is kept in locus.move_repair alone.", how)
		},
	}
	c.Flags().StringVar(&take, "take", "", "the `row` that stays: source, target or newer")
	c.Flags().StringVar(&rows, "rows", "", "the `numbers` of the rows, such as 3,7-9 (default: all listed rows)")
	c.Flags().BoolVar(&how.dryRun, "dry-run", false, "list the repair of each row; write nothing")
	in.addYes(c)
	return c
}

// differing is a row in the output of repair.
type differing struct {
	ops.Difference
	Newer ops.Side `json:"newer,omitempty"`
	Deed  string   `json:"would_be,omitempty"`
	Why   string   `json:"why_not,omitempty"`
}

// printDifferences lists the differing rows, and what a repair would do with each.
func (in *invocation) printDifferences(ctx context.Context, r ops.Repair) error {
	var chosen []ops.Difference
	var beyond int64
	err := in.withEtcd(func(conn *connection) (err error) {
		chosen, beyond, err = in.opsOf(conn).Differing(ctx, r)
		return err
	})
	if err != nil {
		return err
	}
	take := r.Take
	shown := []differing{}
	table := [][]string{{"ROW", "TABLE", "KEY", "DIFFERS", "NEWER", "SOURCE", "TARGET", "WOULD BE"}}
	for _, d := range chosen {
		one := differing{Difference: d}
		newer, why := d.Newer()
		if one.Newer = newer; take != "" {
			var winner ops.Side
			if winner, one.Why = d.Decide(take); one.Why == "" {
				one.Deed = d.Deed(winner)
			}
		} else {
			why = d.Left
		}
		shown = append(shown, one)
		deed := one.Deed
		if deed == "" {
			deed = cmp.Or(one.Why, why)
		}
		table = append(table, []string{
			strconv.Itoa(d.Number), d.Table, d.KeyText, strings.Join(d.Columns, ","), string(newer), d.Source.Short, d.Target.Short, deed,
		})
	}
	return in.show(shown, func(w io.Writer) {
		columns(w, table)
		if beyond > 0 {
			fmt.Fprintf(w, "and about %s more, which are listed once these are equal\n", quantity(int(beyond), "row"))
		}
		if take != "" {
			fmt.Fprintln(w, "dry run: nothing was written")
		}
	})
}
