package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"locus/control/ops"
	"locus/router/cluster"
)

// bringing holds the parameters of a repair of misplaced rows.
type bringing struct {
	repair bool
	take   string
	how    sending
}

func (b bringing) request() ops.BringHome { return ops.BringHome{Take: b.take, DryRun: b.how.dryRun} }

// mostStrays bounds the number of rows shown. All rows are counted.
const mostStrays = 1000

// broughtHome is the output of verify --repair.
type broughtHome struct {
	Rows     []ops.Misplaced `json:"rows"` // the first mostStrays rows
	Repaired int             `json:"repaired"`
	Left     int             `json:"left"`
	DryRun   bool            `json:"dry_run,omitempty"`
}

func (b *broughtHome) add(s ops.Misplaced, left bool) {
	if left {
		b.Left++
	} else {
		b.Repaired++
	}
	if len(b.Rows) < mostStrays {
		b.Rows = append(b.Rows, s)
	}
}

// bringHome moves misplaced rows to the shards that own them.
func (in *invocation) bringHome(ctx context.Context, o *ops.Ops, c *cluster.Cluster, how bringing) error {
	if !how.how.dryRun {
		if err := in.confirm("Move rows to the shards that own them? Rows that are overwritten are kept only in locus.move_repair."); err != nil {
			return err
		}
	}
	live := in.output == table && isTerminal(in.stderr)
	all := broughtHome{Rows: []ops.Misplaced{}, DryRun: how.how.dryRun}
	err := o.BringHome(ctx, c, how.request(), in.operator(), in.rowProgress(live), all.add)
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
