package main

import (
	"context"
	"fmt"
	"os"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"locus/control/jobs"
	"locus/control/ops"
	"locus/control/watch"
)

func watchCommand(in *invocation) *cobra.Command {
	var once bool
	c := &cobra.Command{
		Use:   "watch [JOB]",
		Short: "Watch the progress of jobs",
		Long: `Watch the progress of jobs until all have ended. A terminal shows a view that is updated;
q ends it. Other outputs get a line for each job once a second, or a list with -o json.`,
		Example: `  locus watch
  locus watch split-1
  locus watch --once`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return in.withJobs(func(store *jobs.Store) error { return in.watch(command.Context(), store, args, once) })
		},
	}
	c.Flags().BoolVar(&once, "once", false, "print once, and end")
	return c
}

func (in *invocation) watch(ctx context.Context, store *jobs.Store, only []string, once bool) error {
	w := &watch.Watcher{Source: store, Mirrored: store.Mirrored}
	if len(only) == 1 {
		w.Only = only[0]
		if _, err := store.Read(ctx, w.Only); err != nil {
			return err
		}
	}
	switch {
	case in.output != table:
		return in.watchEncoded(ctx, w, once)
	case once:
		return watch.Once(ctx, w, in.stdout, in.now())
	case isTerminal(in.stdin) && isTerminal(in.stdout):
		if err := watch.Screen(ctx, w, in.stdin, in.stdout, in.now); err != nil {
			return fmt.Errorf("watch: %w", err)
		}
		return nil
	}
	return watch.Lines(ctx, w, in.stdout, in.now)
}

// watched is a job in the output for programs.
type watched struct {
	Job    *ops.Job      `json:"job"`
	Report ops.JobReport `json:"report"`
	// Mirror holds the results of mirrored reads over all proxies.
	Mirror *ops.MirrorReport `json:"mirror,omitempty"`
}

// watchEncoded writes a list of the jobs once, or every second until all are over.
func (in *invocation) watchEncoded(ctx context.Context, w *watch.Watcher, once bool) error {
	if once {
		list, _, err := w.Look(ctx)
		if err != nil {
			return err
		}
		return in.showMoves(list)
	}
	return w.Each(ctx, func(list []watch.Seen) error {
		if err := in.showMoves(list); err != nil || in.output != asYAML {
			return err
		}
		_, err := fmt.Fprintln(in.stdout, "---")
		return err
	})
}

func (in *invocation) showMoves(list []watch.Seen) error {
	views := make([]watched, len(list))
	for i, s := range list {
		views[i] = watched{Job: s.Job, Report: s.Report}
		if s.Job.Mirror > 0 {
			views[i].Mirror = &s.Mirror
		}
	}
	return in.show(views, nil)
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(file.Fd())
}
