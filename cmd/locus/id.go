package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"locus/idgen/cipher"
	"locus/idgen/orderid"
	"locus/router/cluster"
)

func idCommand(in *invocation) *cobra.Command {
	group := groupCommand("id", "Compose, decode and issue IDs")
	var keys string
	group.PersistentFlags().StringVar(&keys, "key-ring", "", "the `file` of the keys that hide order numbers, instead of the configuration's")
	_ = group.MarkPersistentFlagFilename("key-ring", "yaml")
	ring := func() (*cipher.Ring, error) { return in.ring(keys) }
	group.AddCommand(idNextCommand(in, ring), idDecodeCommand(in, ring), idEncodeCommand(in, ring))
	return group
}

// ring returns the key ring that a flag or the configuration names, or nil.
func (in *invocation) ring(path string) (*cipher.Ring, error) {
	if path == "" {
		c, err := in.configuration()
		if err != nil {
			return nil, err
		}
		path = c.KeyRing
	}
	if path == "" {
		return nil, nil
	}
	return cipher.Load(path)
}

// idView is an ID in all its forms. Numbers beyond 2^53 are strings, because some JSON parsers would round
// them.
type idView struct {
	ID          string `json:"id"`
	Layout      string `json:"layout"`
	Gene        string `json:"gene"`
	KeyVersion  uint32 `json:"key_version"`
	Sequence    string `json:"sequence"`
	OrderNumber string `json:"order_number,omitempty"`
	Shard       string `json:"shard,omitempty"`
}

// view returns the output for an order ID. It omits the order number if the key of the ID's version is not
// available.
func view(l orderid.Layout, id orderid.ID, ring *cipher.Ring, c *cluster.Cluster) (idView, error) {
	g := l.Gene(id)
	v := idView{
		ID: spelled(l, id), Layout: l.Name(), Gene: g.Format(l.GeneWidth()), KeyVersion: l.Version(id),
		Sequence: l.Sequence(id).String(), Shard: shardOf(c, g, l.GeneWidth()),
	}
	if l.VersionBits() == 0 || ring == nil && v.KeyVersion != 0 {
		return v, nil
	}
	number, err := orNone(ring).Encode(l, id)
	if err != nil {
		return v, err
	}
	v.OrderNumber = spelled(l, number)
	return v, nil
}

func orNone(ring *cipher.Ring) *cipher.Ring {
	if ring == nil {
		return &cipher.Ring{}
	}
	return ring
}

// spelled returns an ID as commands accept and print it: decimal, or 0x… for 16 bytes.
func spelled(l orderid.Layout, id orderid.ID) string {
	if l.Bytes() == 16 {
		return fmt.Sprintf("0x%016x%016x", id.Hi, id.Lo)
	}
	return strconv.FormatUint(id.Lo, 10)
}

func (v idView) rows() [][]string {
	return [][]string{
		{"order ID", v.ID},
		{"order number", v.OrderNumber},
		{"gene", v.Gene},
		{"shard", v.Shard},
		{"key version", strconv.FormatUint(uint64(v.KeyVersion), 10)},
		{"sequence", v.Sequence},
		{"layout", v.Layout},
	}
}

func layoutFlag(command *cobra.Command, name *string) {
	command.Flags().StringVar(name, "layout", "int64", "the `layout` of the ID column")
	var names []string
	for _, l := range orderid.Layouts() {
		names = append(names, l.Name())
	}
	_ = command.RegisterFlagCompletionFunc("layout", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
}

func layoutNamed(name string) (orderid.Layout, error) {
	l, err := orderid.ByName(name)
	if err != nil {
		return l, usageError{err}
	}
	return l, nil
}
