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
		Short: "Send a move's target copies of some reads, and compare the answers",
		Long: `Send a move's target copies of some of the moving genes' reads that the source
answers, and compare rows and latency. Clients never wait for a copy. What is
found is shown by locus jobs JOB and locus watch, and in the tables locus.mirrors
and locus.mirror_differences. 0 % ends it.`,
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
	c.Flags().Var(&percent, "percent", "how many of the reads are sent to the target as well")
	how.flags(in, c, "")
	return c
}
