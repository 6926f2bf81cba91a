package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"locus/control/jobs"
	"locus/control/watch"
	"locus/migrate/repair"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// bringing holds the parameters of a repair of misplaced rows.
type bringing struct {
	repair bool
	take   string
	how    sending
}

// mostStrays bounds the number of rows shown. All rows are counted.
const mostStrays = 1000

// broughtHome is the output of verify --repair.
type broughtHome struct {
	Rows     []repair.Stray `json:"rows"` // the first mostStrays rows
	Repaired int            `json:"repaired"`
	Left     int            `json:"left"`
	DryRun   bool           `json:"dry_run,omitempty"`
}

func (b *broughtHome) add(s repair.Stray) {
	if s.Deed == repair.Leave {
		b.Left++
	} else {
		b.Repaired++
	}
	if len(b.Rows) < mostStrays {
		b.Rows = append(b.Rows, s)
	}
}

// bringHome moves misplaced rows to the shards that own them.
func (in *invocation) bringHome(ctx context.Context, store *jobs.Store, c *cluster.Cluster, how bringing) error {
	if !how.how.dryRun {
		if err := in.confirm("Move rows to the shards that own them? Rows that are overwritten are kept only in locus.move_repair."); err != nil {
			return err
		}
	}
	live := in.output == table && isTerminal(in.stderr)
	all := broughtHome{Rows: []repair.Stray{}, DryRun: how.how.dryRun}
	err := repair.Misplaced{
		Shards: c.ShardNames(), Tables: c.Tables, Server: store.Shard, Map: store.Map,
		Take: repair.TakeStray(how.take), DryRun: how.how.dryRun, By: in.operator(), Found: all.add,
		Progress: func(name catalog.TableName, shard router.ShardName, rows uint64) {
			if live {
				fmt.Fprintf(in.stderr, "\r\x1b[K%s on %s: %s rows", name, shard, watch.Count(int64(rows)))
			}
		},
	}.Run(ctx)
	if live {
		fmt.Fprint(in.stderr, "\r\x1b[K")
	}
	// The result is printed after an error, too.
	err = errors.Join(err, in.show(all, func(w io.Writer) { printStrays(w, all) }))
	if err == nil && all.Left > 0 {
		err = fmt.Errorf("%s left on a shard that does not own them", quantity(all.Left, "row"))
	}
	return err
}

func printStrays(w io.Writer, all broughtHome) {
	rows := [][]string{{"TABLE", "KEY", "ON", "OWNER", "DEED", "WHY", "OWNER'S ROW", "MISPLACED ROW"}}
	for _, s := range all.Rows {
		rows = append(rows, []string{s.Table, s.Key, string(s.On), string(s.Owner), string(s.Deed), s.Why, s.OwnersRow, s.StraysRow})
	}
	if len(rows) > 1 {
		columns(w, rows)
	}
	if more := all.Repaired + all.Left - len(all.Rows); more > 0 {
		fmt.Fprintf(w, "and %s more\n", quantity(more, "row"))
	}
	word := "repaired"
	if all.DryRun {
		word = "would be repaired"
	}
	fmt.Fprintf(w, "%s %s, %d left\n", quantity(all.Repaired, "row"), word, all.Left)
	if all.DryRun {
		fmt.Fprintln(w, "dry run: nothing was written")
	}
}
