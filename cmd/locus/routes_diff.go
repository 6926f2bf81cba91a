package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"locus/router"
)

func routesDiffCommand(in *invocation) *cobra.Command {
	return &cobra.Command{
		Use:     "diff V1 V2",
		Short:   "Print which genes changed hands between two versions of the route map",
		Example: "  locus routes diff 2 26",
		Args:    cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			var versions [2]int64
			for i, arg := range args {
				var err error
				if versions[i], err = versionOf(arg); err != nil {
					return err
				}
			}
			return in.withEtcd(func(conn *connection) error {
				handovers, err := in.opsOf(conn).CompareRoutes(command.Context(), versions[0], versions[1])
				if err != nil {
					return err
				}
				return in.printHandovers(handovers)
			})
		},
	}
}

func versionOf(text string) (int64, error) {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, misused("%q is no version of the map", text)
	}
	return number, nil
}

func (in *invocation) printHandovers(handovers []router.Handover) error {
	return in.show(handoverViews(handovers), func(w io.Writer) {
		if len(handovers) == 0 {
			fmt.Fprintln(w, "no gene changed hands")
			return
		}
		rows := [][]string{{"GENES", "FROM", "TO", "COUNT"}}
		for _, h := range handovers {
			rows = append(rows, []string{h.Genes.String(), string(h.From), string(h.To), strconv.Itoa(h.Genes.Len())})
		}
		columns(w, rows)
	})
}
