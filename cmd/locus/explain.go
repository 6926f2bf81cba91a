package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

func explainCommand(in *invocation) *cobra.Command {
	var database string
	command := &cobra.Command{
		Use:     `explain "SQL"`,
		Short:   "Show where a statement would go, and why",
		Example: `  locus explain --database shop "SELECT * FROM test_order WHERE buyer_uid = 42"`,
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return explainStatement(command.Context(), in, database, args[0])
		},
	}
	command.Flags().StringVar(&database, "database", "", "the current database, for tables named without one")
	return command
}

// explainStatement plans one statement against what is declared, and prints the
// plan.
var explainStatement = func(_ context.Context, _ *invocation, _, _ string) error {
	return errors.New("explain: this build can't plan statements: not built yet")
}
