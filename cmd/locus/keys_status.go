package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"locus/control/fleet"
	"locus/control/keyring"
	"locus/control/ops"
)

// keysView is the key versions of a cluster. It shows no key.
type keysView struct {
	Current   *keyring.Current  `json:"current,omitempty"` // nil: none is settled
	Due       *time.Time        `json:"due,omitempty"`     // when another key should become current; nil: there is no schedule
	Processes []ops.ProcessKeys `json:"processes"`
}

func (k *keysOf) status() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the key versions that each process can read, and the one that it uses",
		Long: `Show the key version that hides new numbers of the cluster, the versions that each live
process can read, and the one that it uses for new numbers. Keys are shown as
fingerprints, which reveal nothing about them. The exit status is 1 if a process can't
read numbers of others, or has another key for a version.`,
		Example: "  locus keys status -c locus.yaml\n  locus keys status -o json",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return k.in.withEtcd(func(conn *connection) error { return k.showStatus(command.Context(), conn) })
		},
	}
}

func (k *keysOf) showStatus(ctx context.Context, conn *connection) error {
	status, err := k.in.opsOf(conn).KeyStatus(ctx)
	if err != nil {
		return err
	}
	view, current := keysView{Processes: status.Processes}, status.Current
	if current.Version > 0 {
		view.Current = &current
	}
	if !status.Due.IsZero() {
		view.Due = &status.Due
	}
	rows := [][]string{{"PROCESS", "STAMPS", "READS", "PROBLEM"}}
	for _, p := range status.Processes {
		rows = append(rows, keysRow(p))
	}
	err = k.in.show(view, func(w io.Writer) {
		if current.Version > 0 {
			fmt.Fprintf(w, "key version %d hides new numbers since %s, by %s\n", current.Version, stamped(current.At), current.By)
			if view.Due != nil {
				fmt.Fprintln(w, dueText(*view.Due, k.in.now()))
			}
		} else {
			fmt.Fprintln(w, "no process with a key ring has set the key version that hides new numbers")
		}
		columns(w, rows)
	})
	if err == nil && status.Differing > 0 {
		err = fmt.Errorf("%d of %d processes differ", status.Differing, len(status.Processes))
	}
	return err
}

// dueText is the reminder of a schedule.
func dueText(due, now time.Time) string {
	if now.After(due) {
		return "the next key has been due since " + stamped(due) + ": locus keys rotate --wait"
	}
	return "the next key is due on " + stamped(due)
}

func keysRow(p ops.ProcessKeys) []string {
	stamps := ""
	if p.Stamps > 0 {
		stamps = strconv.FormatUint(uint64(p.Stamps), 10)
	}
	return []string{p.ID, orDash(stamps), orDash(fleet.Keys{Versions: p.Versions}.String()), orDash(p.Problem)}
}
