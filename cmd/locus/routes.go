package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"locus/control/declared"
	"locus/router"
	"locus/router/cluster"
)

func routesCommand(in *invocation) *cobra.Command {
	group := groupCommand("routes", "Show the route map, and restore an earlier one")
	group.AddCommand(&cobra.Command{
		Use:     "show",
		Short:   "Print which shard owns which genes",
		Example: `  locus routes show`,
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			c, err := in.declaredCluster(command.Context())
			if err != nil {
				return err
			}
			return in.printRoutes(c)
		},
	}, &cobra.Command{
		Use:   "history",
		Short: "Print the versions of the route map: when, by whom, why, what changed",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return in.withEtcd(func(conn *connection) error {
				versions, readErr := declared.History(command.Context(), conn.kv)
				if err := in.printHistory(versions); err != nil || versions == nil {
					return errors.Join(err, readErr)
				}
				if readErr != nil {
					fmt.Fprintf(in.stderr, "not shown, see locus doctor: %v\n", readErr)
				}
				return nil
			})
		},
	})
	group.AddCommand(routesDiffCommand(in), routesRollbackCommand(in))
	return group
}

type routesView struct {
	Version int64       `json:"version"`
	At      string      `json:"at,omitempty"`
	By      string      `json:"by,omitempty"`
	Why     string      `json:"why,omitempty"`
	Routes  []routeView `json:"routes"`
}

type routeView struct {
	First string `json:"first"`
	Last  string `json:"last"`
	Shard string `json:"shard"`
	// Target owns this percentage of the rows, by sequence.
	Target  string `json:"target,omitempty"`
	Percent int    `json:"percent,omitempty"`
}

func (in *invocation) printRoutes(c *cluster.Cluster) error {
	v := routesView{Version: c.Routes.Version(), At: stamped(c.Stamp.At), By: c.Stamp.By, Why: c.Stamp.Why}
	width := c.Routes.Width()
	for _, s := range c.Routes.Stretches() {
		v.Routes = append(v.Routes, routeView{s.First.Format(width), s.Last.Format(width), string(s.Shard), string(s.Target), int(s.Share)})
	}
	return in.show(v, func(w io.Writer) {
		fmt.Fprintf(w, "version %d, %s, by %s: %s\n", v.Version, v.At, orDash(v.By), orDash(v.Why))
		fmt.Fprint(w, c.Routes)
	})
}

type versionOfMap struct {
	Version int64          `json:"version"`
	At      string         `json:"at,omitempty"`
	By      string         `json:"by,omitempty"`
	Why     string         `json:"why,omitempty"`
	Changes []handoverView `json:"changes"`
}

type handoverView struct {
	Genes string `json:"genes"`
	From  string `json:"from"`
	To    string `json:"to"`
}

func handoverViews(handovers []router.Handover) []handoverView {
	views := make([]handoverView, len(handovers))
	for i, h := range handovers {
		views[i] = handoverView{h.Genes.String(), string(h.From), string(h.To)}
	}
	return views
}

func (in *invocation) printHistory(versions []cluster.Version) error {
	rows := [][]string{{"VERSION", "AT", "BY", "GENES MOVED", "WHY"}}
	views := []versionOfMap{}
	for i, v := range versions {
		var handovers []router.Handover
		if i > 0 {
			handovers, _ = router.Diff(versions[i-1].Map, v.Map) // maps of different widths can't be compared
		}
		moved := 0
		for _, h := range handovers {
			moved += h.Genes.Len()
		}
		views = append(views, versionOfMap{v.Map.Version(), stamped(v.Stamp.At), v.Stamp.By, v.Stamp.Why, handoverViews(handovers)})
		rows = append(rows, []string{
			strconv.FormatInt(v.Map.Version(), 10), stamped(v.Stamp.At), v.Stamp.By, strconv.Itoa(moved), v.Stamp.Why,
		})
	}
	return in.show(views, func(w io.Writer) { columns(w, rows) })
}

func stamped(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02 15:04:05Z")
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
