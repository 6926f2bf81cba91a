package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"locus/control/keyring"
	"locus/idgen/cipher"
)

// keyView is the output for a version of a ring. It contains no key.
type keyView struct {
	Version uint32 `json:"version"`
	Cipher  string `json:"cipher,omitempty"`
	State   string `json:"state"`
}

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
			ring, err := cipher.Load(path)
			if err != nil {
				return err
			}
			current := k.currentOr(command.Context(), ring)
			var views []keyView
			for _, version := range ring.Versions() {
				state := "decodes"
				if version == current {
					state = "current"
				}
				views = append(views, keyView{version, ring.Cipher(version), state})
			}
			for _, version := range ring.Retired() {
				views = append(views, keyView{version, "", "retired"})
			}
			slices.SortFunc(views, func(a, b keyView) int { return int(a.Version) - int(b.Version) })
			rows := [][]string{{"VERSION", "CIPHER", "STATE"}}
			for _, v := range views {
				rows = append(rows, []string{strconv.FormatUint(uint64(v.Version), 10), orDash(v.Cipher), v.State})
			}
			return k.in.show(views, func(w io.Writer) { columns(w, rows) })
		},
	}
}

// currentOr returns the cluster's version. If no cluster is named, no version is settled, or etcd is
// unreachable, it returns the file's own version and prints the reason.
func (k *keysOf) currentOr(ctx context.Context, ring *cipher.Ring) (version uint32) {
	version = ring.Current()
	if !k.in.namesCluster() {
		return version
	}
	err := k.in.withEtcd(func(conn *connection) error {
		current, _, err := keyring.ReadCurrent(ctx, conn.kv)
		if err == nil && current.Version > 0 {
			version = current.Version
		}
		return err
	})
	if err != nil {
		fmt.Fprintln(k.in.stderr, "warning: the current version is known only from the file:", err)
	}
	return version
}
