package main

import (
	"github.com/spf13/cobra"

	"locus/control/ops"
)

func mirrorCommand(in *invocation) *cobra.Command {
	var percent share
	var how sending
	c := &cobra.Command{
		Use:   "mirror JOB --percent PERCENT",
		Short: "Send copies of some reads to a job's target, and compare the answers",
		Long: `Send copies of some reads of the moving genes to the job's target, and compare rows and
latency with those of the source. Clients never wait for a copy. locus jobs JOB, locus
watch, and the tables locus.mirrors and locus.mirror_differences show the results. 0 %
ends it.`,
		Example: `  locus mirror split-1 --percent 10
  locus mirror split-1 --percent 0`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			r := ops.Mirror{OfJob: ops.OfJob{Job: args[0]}}
			if command.Flags().Changed("percent") {
				r.Percent = percent.number()
			}
			return in.send(command.Context(), r, "", how)
		},
	}
	c.Flags().Var(&percent, "percent", "the share of the reads that are also sent to the target")
	how.flags(in, c, "")
	return c
}
