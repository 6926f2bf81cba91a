package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"locus/control/jobs"
	"locus/migrate/job"
	"locus/migrate/phase"
)

// onwards lists the phases of a job that runs to its end, in order.
var onwards = []phase.Phase{
	phase.Planned, phase.Copying, phase.CatchingUp, phase.Verifying, phase.Ready, phase.Cutting, phase.Cut, phase.Retiring, phase.Done,
}

func waitCommand(in *invocation) *cobra.Command {
	until, most := string(phase.Ready), time.Duration(0)
	c := &cobra.Command{
		Use:   "wait JOB [--for ready|cut|done]",
		Short: "Wait until a job has reached a phase",
		Long: `Wait until a job has reached a phase, or a later one: ready, when both shards are
equal; cut, when all of its genes are at the target; done. The exit status is 0
then. It is 1 if the job is paused, failed or aborted, because it will not reach the
phase by itself, or if --timeout has passed.`,
		Example: `  locus wait split-1 && locus cutover split-1 --to 100% --step 5% --every 1m --yes
  locus wait split-1 --for cut --timeout 2h`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			switch wanted := phase.Phase(until); wanted {
			case phase.Ready, phase.Cut, phase.Done:
				return in.withJobs(func(store *jobs.Store) error { return in.wait(command.Context(), store, args[0], wanted, most) })
			default:
				return misused("--for %q: use ready, cut or done", until)
			}
		},
	}
	c.Flags().StringVar(&until, "for", until, "the `phase`: ready, cut or done")
	c.Flags().DurationVar(&most, "timeout", 0, "the longest `time` to wait; 0: without a limit")
	return c
}

func (in *invocation) wait(ctx context.Context, store *jobs.Store, id string, wanted phase.Phase, most time.Duration) error {
	waiting, cancel := context.WithCancel(ctx)
	if most > 0 {
		waiting, cancel = context.WithTimeout(ctx, most)
	}
	defer cancel()
	changes := store.Changes(waiting)
	for {
		s, err := store.Read(ctx, id)
		if err != nil {
			return err
		}
		there, err := arrived(s.Job, wanted)
		switch {
		case err != nil:
			return err
		case there:
			return in.showTold(s.Job, commandsFor(s.Job))
		}
		if _, more := <-changes; more {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		return fmt.Errorf("job %s is %s after %v, not %s: locus watch %s shows how far it is", id, s.Job.State.Shown(), most, wanted, id)
	}
}

// arrived reports whether a job has reached a phase. The error means that it never will.
func arrived(j *job.Job, wanted phase.Phase) (bool, error) {
	at := j.State.Shown()
	if at == phase.Paused {
		return false, fmt.Errorf("job %s is paused: locus resume %s", j.ID, j.ID)
	}
	if at == phase.Failed {
		return false, fmt.Errorf("job %s has failed: %s: %s", j.ID, j.State.Why, j.State.Remedy)
	}
	if at == phase.Aborting || at == phase.Aborted {
		return false, fmt.Errorf("job %s is %s", j.ID, at)
	}
	return slices.Index(onwards, at) >= slices.Index(onwards, wanted), nil
}
