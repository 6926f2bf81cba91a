package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"locus/control/jobs"
	"locus/control/watch"
	"locus/migrate/job"
)

func watchCommand(in *invocation) *cobra.Command {
	var once bool
	c := &cobra.Command{
		Use:   "watch [JOB]",
		Short: "Watch moves as they go",
		Long: `Watch moves as they go, until all are over. On a terminal they are drawn; q ends
that. Elsewhere there is a line for each once a second, or with -o json a list of
them.`,
		Example: `  locus watch
  locus watch split-1
  locus watch --once`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return in.withJobs(func(store *jobs.Store) error { return in.watch(command.Context(), store, args, once) })
		},
	}
	c.Flags().BoolVar(&once, "once", false, "print them once, and end")
	return c
}

func (in *invocation) watch(ctx context.Context, store *jobs.Store, only []string, once bool) error {
	w := &watch.Watcher{Source: store}
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

// watched is a move as programs read it.
type watched struct {
	Job    *job.Job   `json:"job"`
	Report job.Report `json:"report"`
}

// watchEncoded writes a list of the moves once, or each second until all are over.
func (in *invocation) watchEncoded(ctx context.Context, w *watch.Watcher, once bool) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		list, going, err := w.Look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		views := make([]watched, len(list))
		for i, s := range list {
			views[i] = watched{s.Job, s.Report}
		}
		if err := in.show(views, nil); err != nil || once || !going {
			return err
		}
		if in.output == asYAML {
			fmt.Fprintln(in.stdout, "---")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(file.Fd())
}
