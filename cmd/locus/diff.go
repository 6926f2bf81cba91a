package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"locus/router/cluster"
)

func diffCommand(in *invocation) *cobra.Command {
	var path string
	var exitCode bool
	command := &cobra.Command{
		Use:   "diff -f cluster.yaml",
		Short: "Print what locus apply would change",
		Long: `Print what locus apply would change, without a check on the shards. The exit status
is 0 even if there are differences. With --exit-code it is 3 then.`,
		Example: `  locus diff -f cluster.yaml
  locus diff -f cluster.yaml --exit-code`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			next, err := in.clusterFile(path)
			if err != nil {
				return err
			}
			return in.withEtcd(func(conn *connection) error {
				changes, err := in.opsOf(conn).Compare(command.Context(), next)
				if err != nil {
					return err
				}
				if err := in.show(changeViews(changes), func(w io.Writer) { printChanges(w, changes) }); err != nil {
					return err
				}
				if exitCode && len(changes) > 0 {
					return errDiffers
				}
				return nil
			})
		},
	}
	fileFlag(command, &path)
	command.Flags().BoolVar(&exitCode, "exit-code", false, "exit with 3 if there are differences")
	return command
}

// errDiffers sets the exit status without printing a message.
var errDiffers = errors.New("there are differences")

func fileFlag(command *cobra.Command, path *string) {
	command.Flags().StringVarP(path, "file", "f", "", "the declared cluster's `file`; - is standard input")
	_ = command.MarkFlagFilename("file", "yaml")
}

func printChanges(w io.Writer, changes []cluster.Change) {
	if len(changes) == 0 {
		fmt.Fprintln(w, "no differences")
	}
	for _, c := range changes {
		fmt.Fprintln(w, c)
	}
}

type changeView struct {
	Action   string         `json:"action"`
	Document string         `json:"document"`
	Fields   []fieldView    `json:"fields,omitempty"`
	Genes    []handoverView `json:"genes,omitempty"`
}

type fieldView struct {
	Field string `json:"field"`
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
}

func changeViews(changes []cluster.Change) []changeView {
	views := make([]changeView, len(changes))
	for i, c := range changes {
		views[i] = changeView{Action: string(c.Action), Document: c.Document, Genes: handoverViews(c.Handovers)}
		for _, f := range c.Fields {
			views[i].Fields = append(views[i].Fields, fieldView(f))
		}
	}
	return views
}
