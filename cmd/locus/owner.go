package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"locus/idgen/gene"
	"locus/router/cluster"
)

// owner is the value of an owner column, as a command's argument.
type owner struct {
	value string
	kind  string // "" means a guess from the value
}

var ownerKinds = []string{"int", "text", "bytes"}

func (o *owner) typeFlag(command *cobra.Command) {
	command.Flags().StringVar(&o.kind, "type", "", "the column's `type`: int, text or bytes; int for what looks like an integer, else text")
	_ = command.RegisterFlagCompletionFunc("type", cobra.FixedCompletions(ownerKinds, cobra.ShellCompDirectiveNoFileComp))
}

// hashed returns a function for the gene in any width, and the type of the value.
func (o owner) hashed() (of func(gene.Width) gene.Gene, kind string, err error) {
	n, isInteger := integer(o.value)
	kind = o.kind
	if kind == "" {
		kind = "text"
		if isInteger {
			kind = "int"
		}
	}
	switch {
	case !slices.Contains(ownerKinds, kind):
		return nil, "", misused("--type %s: use int, text or bytes", kind)
	case kind == "int" && !isInteger:
		return nil, "", misused("%q is no integer of 64 bits: --type text hashes it as text", o.value)
	case kind == "int":
		return func(w gene.Width) gene.Gene { return gene.OfInt(n, w) }, kind, nil
	case kind == "text":
		// As in a PAD SPACE collation. All collations except the NO PAD ones are such.
		return ofBytes([]byte(strings.TrimRight(o.value, " "))), kind, nil
	}
	raw := []byte(o.value)
	if digits, ok := strings.CutPrefix(o.value, "0x"); ok {
		if raw, err = hex.DecodeString(digits); err != nil {
			return nil, "", misused("%q is not bytes in hex: %v", o.value, err)
		}
	}
	return ofBytes(raw), kind, nil
}

func ofBytes(b []byte) func(gene.Width) gene.Gene {
	return func(w gene.Width) gene.Gene { return gene.OfBytes(b, w) }
}

// integer parses an integer in the range of a BIGINT, signed or unsigned.
func integer(text string) (int64, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	n, err := strconv.ParseUint(text, 10, 64)
	return int64(n), err == nil
}

// optionalCluster returns the cluster for commands that also work without one. It returns nil if no flag names
// one, or if it can't be read, which it reports.
func (in *invocation) optionalCluster(ctx context.Context) *cluster.Cluster {
	if !in.namesCluster() {
		return nil
	}
	c, err := in.declaredCluster(ctx)
	if err != nil {
		fmt.Fprintln(in.stderr, "warning: the shard is unknown:", err)
		return nil
	}
	return c
}

// shardOf returns the shard of a gene, which must be at least as wide as the cluster's genes. It returns both
// shards of a divided gene, and "" without a cluster.
func shardOf(c *cluster.Cluster, g gene.Gene, w gene.Width) string {
	if c == nil || w < c.Settings.GeneBits {
		return ""
	}
	return c.Routes.OwnersOf(g & c.Settings.GeneBits.Last())
}
