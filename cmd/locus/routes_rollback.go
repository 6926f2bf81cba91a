package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"locus/control/ops"
)

func routesRollbackCommand(in *invocation) *cobra.Command {
	a := application{in: in}
	c := &cobra.Command{
		Use:   "rollback VERSION",
		Short: "Restore an earlier version of the route map",
		Long: `Return every gene to the shard that had it in an earlier version of the route map, by a
new version. No row is moved. Like locus apply, the command is refused if a shard that
loses genes has rows of them. After a job has moved rows, use "locus rollback JOB", or
another job.`,
		Example: `  locus routes history
  locus routes rollback 3 --dry-run
  locus routes rollback 3 --why "the new shard is not ready"`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			version, err := versionOf(args[0])
			if err != nil {
				return err
			}
			r := ops.RestoreRoutes{Version: version, Force: a.forceMove, Reason: ops.Reason{Why: a.why}}
			return a.change(command.Context(), r, fmt.Sprintf("Give every gene back to the shard that had it in version %d of the route map?", version))
		},
	}
	in.addYes(c)
	flags := c.Flags()
	flags.BoolVar(&a.dryRun, "dry-run", false, "check and print everything, write nothing")
	flags.BoolVar(&a.forceMove, "force-move-without-data", false, "hand genes over even if their rows stay on the old shard, where nothing reads them")
	flags.StringVar(&a.by, "by", "", "the `name` of who changes the map (default: you, on this host)")
	flags.StringVar(&a.why, "why", "", "the `reason`, for the history of the route map")
	return c
}
