package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"locus/idgen/cipher"
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
			if err := k.unused(command.Context(), path, version, dryRun); err != nil {
				return err
			}
			if dryRun {
				fmt.Fprintf(k.in.stdout, "would change %s: version %d is retired\n", path, version)
				return nil
			}
			if err := k.in.confirm("Numbers of version %d can't be decoded any more. Remove its key?", version); err != nil {
				return err
			}
			if err := cipher.Retire(path, version); err != nil {
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

// unused refuses a version that hides new IDs in the cluster, or in a process. If the file would give a new
// cluster this version, it is changed to name the cluster's version.
func (k *keysOf) unused(ctx context.Context, path string, version uint32, dryRun bool) error {
	if !k.in.namesCluster() {
		return nil
	}
	return k.in.withEtcd(func(conn *connection) error {
		current, err := k.in.opsOf(conn).CheckUnused(ctx, version)
		if err != nil {
			return err
		}
		ring, err := cipher.Load(path)
		if err != nil || dryRun || ring.Current() != version || current == 0 {
			return err
		}
		return cipher.Use(path, current)
	})
}
