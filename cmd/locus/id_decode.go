package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"locus/idgen/cipher"
	"locus/router/cluster"
)

func idDecodeCommand(in *invocation, ring func() (*cipher.Ring, error)) *cobra.Command {
	var layoutName, generator string
	command := &cobra.Command{
		Use:   "decode (ID | --generator NAME TEXT)",
		Short: "Decode an order ID or an order number",
		Long: `Decode an order ID or an order number. Both have the same form, so the command prints
both readings: gene, key version and shard are the same, the sequence is not. An ID of a
table that hides its IDs is read like an order number, which requires the key ring. With
--generator, the value is a number or text of a declared generator, and the command
prints its fields, with a hidden sequence decoded.`,
		Example: `  locus id decode 2257851525684528104
  locus id decode 0x3eab000000000000000000000000002a --layout bytes16
  locus id decode 2257859590358612810 -c locus.yaml -o json
  locus id decode --generator waybill 170304050607089TMAL71347043`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if generator != "" {
				return in.withCluster(command.Context(), func(_ *connection, c *cluster.Cluster) error {
					g, err := madeBy(c, generator, ring)
					if err != nil {
						return err
					}
					return in.showParts(g, args[0])
				})
			}
			l, err := layoutNamed(layoutName)
			if err != nil {
				return err
			}
			id, err := l.Parse(args[0])
			if err != nil {
				return usageError{err}
			}
			keys, err := ring()
			if err != nil {
				return err
			}
			asID, err := view(l, id, keys, in.optionalCluster(command.Context()))
			if errors.As(err, new(*cipher.UnknownVersionError)) {
				fmt.Fprintln(in.stderr, "warning:", err)
			} else if err != nil {
				return err
			}
			v := decodedView{idView: asID}
			if asID.OrderNumber != "" {
				original, err := orNone(keys).Decode(l, id)
				if err != nil {
					return err
				}
				v.AsNumber = &numberView{spelled(l, original), l.Sequence(original).String()}
			}
			return in.show(v, func(w io.Writer) { columns(w, v.rows()) })
		},
	}
	layoutFlag(command, &layoutName)
	command.Flags().StringVar(&generator, "generator", "", "the `name` of the generator that made the number, instead of a layout")
	command.MarkFlagsMutuallyExclusive("layout", "generator")
	return command
}

type decodedView struct {
	idView
	AsNumber *numberView `json:"as_order_number,omitempty"`
}

// numberView is the output for an ID that is read as an order number.
type numberView struct {
	OrderID  string `json:"order_id"`
	Sequence string `json:"sequence"`
}

func (v decodedView) rows() [][]string {
	var rows [][]string
	for _, row := range v.idView.rows() {
		switch row[0] {
		case "order ID", "order number", "sequence": // these fields differ between the two readings
		default:
			rows = append(rows, row)
		}
	}
	return append(rows,
		[]string{"as an order ID", "sequence " + v.Sequence + ", order number " + orDash(v.OrderNumber)},
		[]string{"as an order number", v.number()})
}

func (v decodedView) number() string {
	switch {
	case v.AsNumber != nil:
		return "sequence " + v.AsNumber.Sequence + ", order ID " + v.AsNumber.OrderID
	case v.KeyVersion == 0:
		return "this layout has no order numbers"
	}
	return "unreadable without a key ring that has the version"
}
