package main

import (
	"github.com/spf13/cobra"

	"locus/control/ops"
)

func waitCommand(in *invocation) *cobra.Command {
	r := ops.Await{Phase: "ready"}
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
			r.Job = args[0]
			if err := r.Check(); err != nil {
				return err
			}
			return in.withEtcd(func(conn *connection) error {
				j, err := in.opsOf(conn).Await(command.Context(), r)
				if err != nil {
					return err
				}
				return in.showTold(j, commandsFor(j))
			})
		},
	}
	c.Flags().StringVar(&r.Phase, "for", r.Phase, "the `phase`: ready, cut or done")
	c.Flags().DurationVar(&r.Timeout, "timeout", 0, "the longest `time` to wait; 0: without a limit")
	return c
}
