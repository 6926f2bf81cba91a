package main

import (
	"io"

	"github.com/spf13/cobra"

	"locus/idgen/cipher"
)

func idDecodeCommand(in *invocation, ring func() (*cipher.Ring, error)) *cobra.Command {
	var layoutName string
	command := &cobra.Command{
		Use:   "decode ID",
		Short: "Take an order ID or an order number apart",
		Long: `Take an order ID or an order number apart. Both have the same form, so both
readings are printed: gene, key version and shard are the same in each, the
sequence is not. To read an order number takes the key ring.`,
		Example: `  locus id decode 4515628800000001000
  locus id decode 0x3eab000000000000000000000000002a --layout bytes16
  locus id decode 4515628812345678901 -c locus.yaml -o json`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
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
			if err != nil {
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
			return in.print(v, func(w io.Writer) { columns(w, v.rows()) })
		},
	}
	layoutFlag(command, &layoutName)
	return command
}

type decodedView struct {
	idView
	AsNumber *numberView `json:"as_order_number,omitempty"`
}

// numberView is what the ID says if it is an order number.
type numberView struct {
	OrderID  string `json:"order_id"`
	Sequence string `json:"sequence"`
}

func (v decodedView) rows() [][]string {
	rows := append(v.idView.rows(), []string{"", ""})[:0]
	for _, row := range v.idView.rows() {
		switch row[0] {
		case "order ID", "order number", "sequence":
		default:
			rows = append(rows, row)
		}
	}
	rows = append(rows, []string{"as an order ID", "sequence " + v.Sequence + ", order number " + orDash(v.OrderNumber)})
	number := "unreadable without a key ring that has the version"
	switch {
	case v.AsNumber != nil:
		number = "sequence " + v.AsNumber.Sequence + ", order ID " + v.AsNumber.OrderID
	case v.Layout != "" && v.OrderNumber == "" && v.KeyVersion == 0:
		number = "this layout has no order numbers"
	}
	return append(rows, []string{"as an order number", number})
}
