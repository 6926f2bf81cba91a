package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"locus/idgen/gene"
)

func geneCommand(in *invocation) *cobra.Command {
	var o owner
	var bits uint8
	command := &cobra.Command{
		Use:   "gene VALUE",
		Short: "Print the gene of an owner, and its shard",
		Long: `Print the gene of an owner. The type of the owner's column determines the bytes that
are hashed: the value of an integer column, the bytes of a text column without trailing
spaces, or the bytes of a binary column, which may be given as 0x…. With -c or --etcd,
the command also prints the shard that owns the gene.`,
		Example: `  locus gene 42
  locus gene --type text 42
  locus gene alice --etcd 127.0.0.1:2379
  locus gene -- -1`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			o.value = args[0]
			of, kind, err := o.hashed()
			if err != nil {
				return err
			}
			c := in.optionalCluster(command.Context())
			width := gene.Width(bits)
			if c != nil && !command.Flags().Changed("bits") {
				width = c.Settings.GeneBits
			}
			if !width.Valid() {
				return misused("--bits %d: use 14, 15, 16 or 23", bits)
			}
			g := of(width)
			v := geneView{o.value, kind, int(width), g.Format(width), shardOf(c, g, width)}
			return in.show(v, func(w io.Writer) {
				fmt.Fprint(w, v.Gene)
				if v.Shard != "" {
					fmt.Fprint(w, "  ", v.Shard)
				}
				fmt.Fprintln(w)
			})
		},
	}
	o.typeFlag(command)
	command.Flags().Uint8Var(&bits, "bits", uint8(gene.W16), "the number of `bits` of the gene: 14, 15, 16 or 23; the cluster's, if there is one")
	return command
}

type geneView struct {
	Value string `json:"value"`
	Type  string `json:"type"`
	Bits  int    `json:"bits"`
	Gene  string `json:"gene"`
	Shard string `json:"shard,omitempty"`
}
