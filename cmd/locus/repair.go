package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"locus/control/jobs"
	"locus/migrate/job"
)

func repairCommand(in *invocation) *cobra.Command {
	var take, rows string
	var how telling
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
			if take != "" && !job.Take(take).Valid() {
				return misused("--take %q: use source, target or newer", take)
			}
			return in.withJobs(func(store *jobs.Store) error {
				return in.repair(command.Context(), store, args[0], job.Take(take), rows, how)
			})
		},
	}
	c.Flags().StringVar(&take, "take", "", "whose `row` stands: source, target or newer")
	c.Flags().StringVar(&rows, "rows", "", "the `numbers` of the rows, like 3,7-9 (default: all that are listed)")
	c.Flags().BoolVar(&how.dryRun, "dry-run", false, "list what would be done with each row; write nothing")
	in.addYes(c)
	return c
}

// differing is a row as repair shows it.
type differing struct {
	job.Difference
	Newer job.Side `json:"newer,omitempty"`
	Deed  string   `json:"would_be,omitempty"`
	Why   string   `json:"why_not,omitempty"`
}

func (in *invocation) repair(ctx context.Context, store *jobs.Store, id string, take job.Take, rows string, how telling) error {
	s, err := store.Read(ctx, id)
	if err != nil {
		return err
	}
	if s.Job.State.Differing == 0 {
		return fmt.Errorf("job %s is %s, and no rows are listed: rows are repaired of a job that has failed because they differ; locus verify %s compares", id, s.Job.State.Shown(), id)
	}
	list, err := store.Differences(ctx, id)
	if err != nil {
		return err
	}
	chosen, err := list.Chosen(rows)
	if err != nil {
		return misused("--rows: %w", err)
	}
	if take == "" || how.dryRun {
		return in.printDifferences(chosen, take, list.Beyond)
	}
	order, err := job.MakeEqual(take, chosen, in.operator())
	if err != nil {
		return fmt.Errorf("job %s: %w", id, err)
	}
	return in.tell(ctx, store, id, order, "Job %[1]s: "+order.Name+"? The other row of each is kept in locus.move_repair alone.", how)
}

func (in *invocation) printDifferences(chosen []job.Difference, take job.Take, beyond int64) error {
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
