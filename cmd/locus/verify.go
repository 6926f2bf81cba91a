package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"locus/control/ops"
	"locus/control/watch"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

func verifyCommand(in *invocation) *cobra.Command {
	var home bringing
	c := &cobra.Command{
		Use:   "verify [JOB]",
		Short: "Compare a job's shards, or check every shard for misplaced rows",
		Long: `With a job: compare its two shards now, and wait for the outcome. The process that
runs the job compares them while applications write, and continues if this command is
interrupted. If a row differs, the job fails.

Without a job: check every row of the sharded tables. Its owner, its ID and its other
keys must have one gene, and the shard must own that gene, or take part in its move.
Global tables are compared with those of the first shard. Undeclared tables that have
rows on several shards are reported. The command reads the shards directly, and changes
nothing.

With --repair, rows that are on a shard which does not own them are moved to the owner.
If the owner has the same row, the misplaced one is deleted. If the owner has no such
row, it is copied there first. If the owner has another row with the key, --take selects
the row that stays. Rows of genes that a job is moving, and rows whose keys have
different genes, are not changed. Changed rows are kept in locus.move_repair on the
changed shard.

The exit status is 0 without findings, or if all were repaired. It is 1 with findings,
or if a shard can't be reached.`,
		Example: `  locus verify split-1
  locus verify -o json
  locus verify --repair --dry-run`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			switch {
			case !home.repair && (home.how.dryRun || in.yes || home.take != ""):
				return misused("--take, --dry-run and --yes are of --repair")
			case home.repair && len(args) > 0:
				return misused("--repair is of rows on the wrong shard: locus repair %s repairs what a move's shards differ in", args[0])
			case home.repair:
				if err := home.request().Check(); err != nil {
					return err
				}
				return in.withCluster(command.Context(), func(conn *connection, c *cluster.Cluster) error {
					return in.bringHome(command.Context(), in.opsOf(conn), c, home)
				})
			case len(args) == 0:
				return in.withCluster(command.Context(), func(conn *connection, c *cluster.Cluster) error {
					return in.verifyAll(command.Context(), in.opsOf(conn), c)
				})
			}
			return in.withEtcd(func(conn *connection) error {
				return in.verifyJob(command.Context(), in.opsOf(conn), args[0])
			})
		},
	}
	c.Flags().BoolVar(&home.repair, "repair", false, "move misplaced rows to the shard that owns them")
	c.Flags().StringVar(&home.take, "take", "", "the `row` that stays if the owner has another one: owner, misplaced or newer")
	c.Flags().BoolVar(&home.how.dryRun, "dry-run", false, "with --repair, list the repair of each row; write nothing")
	in.addYes(c)
	return c
}

// verifyJob makes a job compare its shards, and waits for the result.
func (in *invocation) verifyJob(ctx context.Context, o *ops.Ops, id string) error {
	c, err := o.VerifyJob(ctx, ops.Verify{OfJob: ops.OfJob{Job: id}}, in.operator(), func(rows int64) {
		if in.output == table && isTerminal(in.stderr) {
			fmt.Fprintf(in.stderr, "\r%s rows compared ", watch.Count(rows))
		}
	})
	if err != nil {
		return err
	}
	return in.compared(c)
}

// compared prints the result. It returns an error unless the shards are equal.
func (in *invocation) compared(c ops.Comparison) error {
	if in.output == table && isTerminal(in.stderr) {
		fmt.Fprint(in.stderr, "\r")
	}
	err := in.show(c, func(w io.Writer) {
		rows := [][]string{{"TABLE", "ROWS COMPARED"}}
		for _, name := range slices.Sorted(maps.Keys(c.Tables)) {
			rows = append(rows, []string{name, watch.Count(c.Tables[name])})
		}
		columns(w, rows)
		if c.Equal {
			fmt.Fprintf(w, "job %s: both shards are equal\n", c.Job)
		}
	})
	if err == nil && !c.Equal {
		err = fmt.Errorf("job %s: %s", c.Job, c.Why)
	}
	return err
}

// verifyAll checks every shard.
func (in *invocation) verifyAll(ctx context.Context, o *ops.Ops, c *cluster.Cluster) error {
	live := in.output == table && isTerminal(in.stderr)
	findings, err := o.CheckRows(ctx, c, in.rowProgress(live), func(f ops.Finding) {
		if live {
			fmt.Fprintf(in.stderr, "\r\x1b[K%s on %s", f.Name, f.Shard)
		}
	})
	if live {
		fmt.Fprint(in.stderr, "\r\x1b[K")
	}
	if findings == nil {
		findings = []ops.Finding{}
	}
	wrong := 0
	shown := in.show(findings, func(w io.Writer) { wrong = printFindings(w, findings) })
	if in.output != table {
		wrong = printFindings(io.Discard, findings)
	}
	if err = errors.Join(err, shown); err == nil && wrong > 0 {
		err = fmt.Errorf("%d of %d tables have rows that should not be where they are, or differ", wrong, len(findings))
	}
	return err
}

// rowProgress returns a function that prints how far a check of rows is, if live is set.
func (in *invocation) rowProgress(live bool) ops.RowProgress {
	return func(name catalog.TableName, shard router.ShardName, rows uint64) {
		if live {
			fmt.Fprintf(in.stderr, "\r\x1b[K%s on %s: %s rows", name, shard, watch.Count(int64(rows)))
		}
	}
}

// printFindings prints the findings, and returns the number of problems.
func printFindings(w io.Writer, findings []ops.Finding) (wrong int) {
	rows := [][]string{{"TABLE", "SHARD", "KIND", "ROWS", "WRONG", "WHAT"}}
	for _, f := range findings {
		if f.Wrong > 0 {
			wrong++
		}
		rows = append(rows, []string{f.Name, string(f.Shard), string(f.Kind), watch.Count(int64(f.Rows)), strconv.FormatUint(f.Wrong, 10), f.What})
	}
	columns(w, rows)
	return wrong
}
