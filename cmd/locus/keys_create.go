package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"locus/control/ops"
)

func (k *keysOf) create() *cobra.Command {
	return &cobra.Command{
		Use:   "create",
		Short: "Create the key ring of a new cluster",
		Long: `Create the file of a key ring, with one random key of version 1. Only its owner can read
it. A file that exists is not replaced, because its keys decode existing numbers.`,
		Example: "  locus keys create --key-ring keys.yaml",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path, err := k.path()
			if err != nil {
				return err
			}
			if err := (ops.CreateKeys{File: path}).Do(); err != nil {
				return err
			}
			fmt.Fprintf(k.in.stdout, "%s has a key of version 1: copy the file to every process that has a key_ring\n", path)
			return nil
		},
	}
}
