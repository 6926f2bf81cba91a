package main

import (
	"io"

	"github.com/spf13/cobra"

	"locus/idgen/cipher"
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/router/cluster"
)

func idEncodeCommand(in *invocation, ring func() (*cipher.Ring, error)) *cobra.Command {
	var o owner
	var layoutName, geneText, generator string
	var parts map[string]string
	var keyVersion uint32
	var sequence uint64
	command := &cobra.Command{
		Use:   "encode ((--owner VALUE | --gene 0x…) --sequence N | --generator NAME --part FIELD=VALUE…)",
		Short: "Compose an ID, or a generator's number, from its parts",
		Long: `Compose an ID from its parts. This uses up no number of a sequence. With --generator,
compose a number of a declared generator from the fields that locus id decode prints, or
the text of a template from the parts seq and time, and values for {context:…}.`,
		Example: `  locus id encode --owner 42 --sequence 1000
  locus id encode --gene 0x3eab --key-version 1 --sequence 1000 --key-ring keys.yaml
  locus id encode --generator voucher --part row=1000 --part table=3
  locus id encode --generator invoice --part seq=17 --part time=2026-03-04T05:06:07Z`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if generator != "" {
				return in.withCluster(command.Context(), func(_ *connection, c *cluster.Cluster) error {
					g, err := madeBy(c, generator, ring)
					if err != nil {
						return err
					}
					return in.showComposed(command.Context(), g, parts)
				})
			}
			l, err := layoutNamed(layoutName)
			if err != nil {
				return err
			}
			g, err := oneGene(o, geneText, l.GeneWidth())
			if err != nil {
				return err
			}
			id, err := l.Compose(g, keyVersion, orderid.Seq(sequence))
			if err != nil {
				return usageError{err}
			}
			keys, err := ring()
			if err != nil {
				return err
			}
			v, err := view(l, id, keys, in.optionalCluster(command.Context()))
			if err != nil {
				return err
			}
			return in.show(v, func(w io.Writer) { columns(w, v.rows()) })
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.value, "owner", "", "the owner's `value`")
	flags.StringVar(&geneText, "gene", "", "the gene in `hex`, instead of the owner")
	flags.Uint32Var(&keyVersion, "key-version", 0, "the `version` of the key that hides the sequence; 0 hides nothing")
	flags.Uint64Var(&sequence, "sequence", 0, "the sequence `number`")
	layoutFlag(command, &layoutName)
	flags.StringVar(&generator, "generator", "", "the `name` of a generator, instead of an owner or gene")
	flags.StringToStringVar(&parts, "part", nil, "a `field=value` of the generator's number, or text")
	command.MarkFlagsOneRequired("sequence", "generator")
	for _, of := range []string{"owner", "gene", "sequence", "key-version", "layout"} {
		command.MarkFlagsMutuallyExclusive(of, "generator")
	}
	o.typeFlag(command)
	return command
}

// oneGene returns the owner's gene, or the gene that is given.
func oneGene(o owner, text string, w gene.Width) (gene.Gene, error) {
	if (o.value == "") == (text == "") {
		return 0, misused("give --owner or --gene, one of the two")
	}
	if text != "" {
		r, err := gene.ParseRange(text, w)
		if err != nil {
			return 0, usageError{err}
		}
		if r.Len() != 1 {
			return 0, misused("--gene %s: give one gene", text)
		}
		return r.First, nil
	}
	of, _, err := o.hashed()
	if err != nil {
		return 0, err
	}
	return of(w), nil
}
