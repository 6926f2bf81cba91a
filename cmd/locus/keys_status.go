package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"locus/control/declared"
	"locus/control/fleet"
	"locus/control/keyring"
	"locus/router/cluster"
)

// keysView is the key versions of a cluster. It shows no key.
type keysView struct {
	Current   *keyring.Current `json:"current,omitempty"` // nil: none is settled
	Due       *time.Time       `json:"due,omitempty"`     // when another key should become current; nil: there is no schedule
	Processes []processKeys    `json:"processes"`
}

type processKeys struct {
	ID       string             `json:"id"`
	Versions []fleet.KeyVersion `json:"versions"`
	Stamps   uint32             `json:"stamps"`
	Problem  string             `json:"problem,omitempty"`
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
	current, _, err := keyring.ReadCurrent(ctx, conn.kv)
	if err != nil {
		return err
	}
	cards, err := fleet.Processes(ctx, conn.kv)
	if err != nil {
		return err
	}
	differences := keyring.Differences(cards, current)
	view := keysView{Processes: []processKeys{}}
	if current.Version > 0 {
		view.Current = &current
	}
	state, err := declared.Read(ctx, conn.kv)
	if err != nil && !errors.Is(err, cluster.ErrNotDeclared) {
		return err
	}
	if state != nil && state.Cluster != nil {
		if due := current.Due(state.Cluster.Settings.KeyRotation()); !due.IsZero() {
			view.Due = &due
		}
	}
	rows := [][]string{{"PROCESS", "STAMPS", "READS", "PROBLEM"}}
	for _, c := range cards {
		p := processKeys{ID: c.ID, Versions: []fleet.KeyVersion{}}
		if c.Keys != nil {
			p.Versions, p.Stamps = slices.Concat(p.Versions, c.Keys.Versions), c.Keys.Stamps
		}
		if at := slices.IndexFunc(differences, func(l keyring.Lack) bool { return l.Process == c.ID }); at >= 0 {
			p.Problem = differences[at].Why
		}
		view.Processes = append(view.Processes, p)
		rows = append(rows, p.row())
	}
	err = k.in.show(view, func(w io.Writer) {
		if current.Version > 0 {
			fmt.Fprintf(w, "key version %d hides new numbers since %s, by %s\n", current.Version, stamped(current.At), current.By)
			if view.Due != nil {
				fmt.Fprintln(w, dueText(*view.Due, k.in.now()))
			}
		} else {
			fmt.Fprintln(w, "no process with a key ring has settled which key version hides new numbers")
		}
		columns(w, rows)
	})
	if err == nil && len(differences) > 0 {
		err = fmt.Errorf("%d of %d processes differ", len(differences), len(cards))
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

func (p processKeys) row() []string {
	stamps := ""
	if p.Stamps > 0 {
		stamps = strconv.FormatUint(uint64(p.Stamps), 10)
	}
	return []string{p.ID, orDash(stamps), orDash(fleet.Keys{Versions: p.Versions}.String()), orDash(p.Problem)}
}
