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
	"locus/migrate/job"
)

func repairCommand(in *invocation) *cobra.Command {
	var take, rows string
	var how sending
	c := &cobra.Command{
		Use:   "repair JOB [--take source|target|newer] [--rows ROWS]",
		Short: "Make rows equal that a move's comparison found different, or list them",
		Long: `Make rows equal that a comparison of a move found different: somebody wrote past the
proxies. The move has failed because of them, and goes on once they are equal. Without
--take they are listed: what each shard has, and which row is newer by its version.

One side's row is taken: the source's, the target's, or the newer one, which takes
a version column and rows on both sides. Each row is a transaction of its own, which
changes nothing if one of the two rows is not what is listed: it changed meanwhile,
and is listed anew. Both rows are kept in locus.move_repair on the shard that was
changed. The process that runs the move does it, while clients write.`,
		Example: `  locus repair split-1
  locus repair split-1 --take newer --dry-run
  locus repair split-1 --take source --rows 3,7-9 --yes`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			r := ops.Repair{OfJob: ops.OfJob{Job: args[0]}, Take: job.Take(take), Rows: rows}
			if take == "" || how.dryRun {
				return in.printDifferences(command.Context(), r)
			}
			return in.send(command.Context(), r, "Job JOB: COMMAND? The other row of each is kept in locus.move_repair alone.", how)
		},
	}
	c.Flags().StringVar(&take, "take", "", "whose `row` stands: source, target or newer")
	c.Flags().StringVar(&rows, "rows", "", "the `numbers` of the rows, like 3,7-9 (default: all that are listed)")
	c.Flags().BoolVar(&how.dryRun, "dry-run", false, "list what would be done with each row; write nothing")
	in.addYes(c)
	return c
}

// differing is a row in the output of repair.
type differing struct {
	job.Difference
	Newer job.Side `json:"newer,omitempty"`
	Deed  string   `json:"would_be,omitempty"`
	Why   string   `json:"why_not,omitempty"`
}

// printDifferences lists the differing rows, and what a repair would do with each.
func (in *invocation) printDifferences(ctx context.Context, r ops.Repair) error {
	var chosen []job.Difference
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
			var winner job.Side
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
