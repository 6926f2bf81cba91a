package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"locus/control/ops"
)

func (k *keysOf) retire() *cobra.Command {
	var dryRun bool
	command := &cobra.Command{
		Use:   "retire VERSION",
		Short: "Remove a key for ever, so that its numbers can't be decoded any more",
		Long: `Remove a key from the ring's file for ever. Numbers that it hides can't be decoded any
more. The file records the version as retired, and processes that read the file forget
the key. If a cluster is named, a version that some process uses for new numbers is
refused.`,
		Example: "  locus keys retire 1", Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			version, err := keyVersion(args[0])
			if err != nil {
				return err
			}
			path, err := k.path()
			if err != nil {
				return err
			}
			planned, err := k.planRetirement(command.Context(), ops.RetireKey{File: path, Version: version})
			if err != nil {
				return err
			}
			if dryRun {
				fmt.Fprintf(k.in.stdout, "would change %s: version %d is retired\n", path, version)
				return nil
			}
			if err := k.in.confirm("Numbers of version %d can't be decoded any more. Remove its key?", version); err != nil {
				return err
			}
			if err := planned.Do(); err != nil {
				return err
			}
			fmt.Fprintf(k.in.stdout, "version %d is retired in %s: copy the file to every process\n", version, path)
			return nil
		},
	}
	command.Flags().BoolVar(&dryRun, "dry-run", false, "print what would be done; write nothing")
	k.in.addYes(command)
	return command
}

// planRetirement checks the cluster too, if one is named.
func (k *keysOf) planRetirement(ctx context.Context, r ops.RetireKey) (planned ops.KeyRetirement, err error) {
	if !k.in.namesCluster() {
		return ops.PlanRetireKey(ctx, nil, r)
	}
	err = k.in.withEtcd(func(conn *connection) (err error) {
		planned, err = ops.PlanRetireKey(ctx, k.in.opsOf(conn), r)
		return err
	})
	return planned, err
}
