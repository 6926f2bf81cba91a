package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"locus/control/declared"
	"locus/router"
	"locus/router/cluster"
)

func routesDiffCommand(in *invocation) *cobra.Command {
	return &cobra.Command{
		Use:     "diff V1 V2",
		Short:   "Print which genes changed hands between two versions of the route map",
		Example: "  locus routes diff 2 26",
		Args:    cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			return in.withEtcd(func(conn *connection) error {
				versions, err := declared.History(command.Context(), conn.kv)
				if err != nil && versions == nil {
					return err
				}
				var maps [2]*router.Map
				for i, arg := range args {
					if maps[i], err = versionOf(versions, arg); err != nil {
						return err
					}
				}
				return in.printHandovers(maps[0], maps[1])
			})
		},
	}
}

func versionOf(versions []cluster.Version, text string) (*router.Map, error) {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, misused("%q is no version of the map", text)
	}
	for _, v := range versions {
		if v.Map.Version() == number {
			return v.Map, nil
		}
	}
	return nil, fmt.Errorf("version %d is not in the history, which has those that handed genes over: locus routes history lists them", number)
}

func (in *invocation) printHandovers(a, b *router.Map) error {
	handovers, err := router.Diff(a, b)
	if err != nil {
		return err
	}
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
