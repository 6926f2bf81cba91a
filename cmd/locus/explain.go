package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"locus/proxy/schema"
	"locus/router/cluster"
	"locus/router/plan"
	"locus/router/stmt"
)

func explainCommand(in *invocation) *cobra.Command {
	var database string
	command := &cobra.Command{
		Use:   `explain "SQL"`,
		Short: "Show where a statement would go, and why",
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

// named refuses a statement that names a table without its database if no database is given, because the plan
// depends on it.
func (in *invocation) named(sql, database string, declared *cluster.Cluster) error {
	if database != "" {
		return nil
	}
	var lexed stmt.Lexed
	lexed.Lex([]byte(sql), 0)
	if lexed.Conditional {
		lexed.Resolve(nil)
	}
	s, err := stmt.Parse(&lexed)
	if err != nil {
		return nil // planning returns a better error
	}
	for _, name := range s.Named() {
		if name.Schema != "" {
			continue
		}
		mean := ""
		for _, table := range declared.TableNames() {
			if strings.EqualFold(table.Name, name.Name) {
				mean = fmt.Sprintf(": did you mean %s?", table)
			}
		}
		return misused("table %s is named without its database: write it before the name, or say --database%s", name.Name, mean)
	}
	return nil
}

// explainLine is one line of a plan.
type explainLine struct {
	Part   string `json:"part"`
	Detail string `json:"detail"`
}

// explain plans one statement for the declared cluster, and prints the plan.
func (in *invocation) explain(ctx context.Context, database, sql string) error {
	return in.withCluster(ctx, func(conn *connection, declared *cluster.Cluster) error {
		return in.explainOn(ctx, conn, declared, database, sql)
	})
}

func (in *invocation) explainOn(ctx context.Context, conn *connection, declared *cluster.Cluster, database, sql string) error {
	asked, err := ask(conn, nil, declared)
	if err != nil {
		return err
	}
	defer asked.Close(ctx)
	loaded, err := schema.Load(ctx, asked.Of(declared), declared)
	if err != nil {
		return err
	}
	var lexed stmt.Lexed
	lexed.Lex([]byte(sql), 0)
	if lexed.Conditional { // the shards must agree on it, whatever their versions
		lexed.Resolve(nil)
	}
	if err := in.named(sql, database, declared); err != nil {
		return err
	}
	p, err := plan.Make(&lexed, plan.Context{Catalog: loaded.Catalog, Schema: database})
	if err != nil {
		return fmt.Errorf("refused: %w", err)
	}
	var args stmt.Args
	args.Reset(&lexed, nil)
	var lines []explainLine
	for _, line := range plan.Explain(p, declared.Routes, &plan.Values{Args: &args}, &plan.Route{}) {
		lines = append(lines, explainLine{line.Part, line.Detail})
	}
	return in.show(lines, func(w io.Writer) {
		rows := [][]string{{"PART", "DETAIL"}}
		for _, line := range lines {
			rows = append(rows, []string{line.Part, line.Detail})
		}
		columns(w, rows)
	})
}
