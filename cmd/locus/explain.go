package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"locus/control/ops"
	"locus/router/cluster"
)

func explainCommand(in *invocation) *cobra.Command {
	var database string
	command := &cobra.Command{
		Use:   `explain "SQL"`,
		Short: "Show where a statement would run, and why",
		Long: `Show how a statement would run: on which shards, by which genes, where the statement
names these, and how the answers of several shards are merged. The statement is not
run. The command reads the columns of the declared tables from the shards.`,
		Example: `  locus explain --database shop "SELECT * FROM test_order WHERE buyer_uid = 42"`,
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return in.explain(command.Context(), database, args[0])
		},
	}
	command.Flags().StringVar(&database, "database", "", "the current `database`, for tables named without one")
	return command
}

// explain plans one statement for the declared cluster, and prints the plan.
func (in *invocation) explain(ctx context.Context, database, sql string) error {
	return in.withCluster(ctx, func(conn *connection, _ *cluster.Cluster) error {
		lines, err := in.opsOf(conn).Explain(ctx, ops.ExplainStatement{Database: database, Statement: sql})
		if err != nil {
			return err
		}
		return in.show(lines, func(w io.Writer) {
			rows := [][]string{{"PART", "DETAIL"}}
			for _, line := range lines {
				rows = append(rows, []string{line.Part, line.Detail})
			}
			columns(w, rows)
		})
	})
}
