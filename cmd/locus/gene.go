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
		Long: `Print the gene of an owner. The bytes that are hashed follow from the type of
the owner's column: an integer column hashes the value, a text column its bytes
without trailing spaces, a binary column its bytes, which may be given as 0x….
With -c or --etcd the shard that owns the gene is printed too.`,
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
