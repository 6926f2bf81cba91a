package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"locus/control/ops"
)

func (k *keysOf) list() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "Show the versions of a key ring's file, without the keys",
		Long: `Show the versions of a key ring's file, without the keys. The current version is that of
the cluster, if one is named, and otherwise the first one of the file.`,
		Example: "  locus keys list --key-ring keys.yaml\n  locus keys list -c locus.yaml -o json",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			path, err := k.path()
			if err != nil {
				return err
			}
			views, err := k.versions(command.Context(), path)
			if err != nil {
				return err
			}
			rows := [][]string{{"VERSION", "CIPHER", "STATE"}}
			for _, v := range views {
				rows = append(rows, []string{strconv.FormatUint(uint64(v.Version), 10), orDash(v.Cipher), v.State})
			}
			return k.in.show(views, func(w io.Writer) { columns(w, rows) })
		},
	}
}

// versions returns the versions of a file. If no cluster is named, no version is settled, or etcd is unreachable, the current version is
// the file's own. If etcd is unreachable, it prints the reason.
func (k *keysOf) versions(ctx context.Context, path string) (list []ops.RingKey, err error) {
	if !k.in.namesCluster() {
		list, _, err = ops.RingKeys(ctx, nil, path)
		return list, err
	}
	var failed error
	unknown := k.in.withEtcd(func(conn *connection) (unknown error) {
		list, unknown, failed = ops.RingKeys(ctx, k.in.opsOf(conn), path)
		return unknown
	})
	if unknown != nil {
		fmt.Fprintln(k.in.stderr, "warning: the current version is known only from the file:", unknown)
	}
	if list == nil && failed == nil { // the cluster can't be reached at all
		list, _, failed = ops.RingKeys(ctx, nil, path)
	}
	return list, failed
}
