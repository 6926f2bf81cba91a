package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"locus/cmd/generators"
	"locus/idgen/snowflake"
	"locus/router/cluster"
)

// nextOf makes numbers, or texts, of a declared generator, in a process of its own.
func nextOf(ctx context.Context, conn *connection, c *cluster.Cluster, name string, n int) (texts []string, err error) {
	declared, known := c.Generators[name]
	if !known {
		return nil, fmt.Errorf("generator %s is not declared: locus get", name)
	}
	for _, of := range append(slices.Clone(declared.Of), name) {
		if c.Generators[of].Kind == cluster.SnowflakeGenerator {
			return nil, fmt.Errorf("generator %s is a snowflake, and each process that makes some has a worker's number for a day: ask a proxy, by SELECT NEXT VALUE FOR %s or GET /api/id/%s", of, name, name)
		}
	}
	if declared.Kind == cluster.SegmentGenerator { // what is left of a segment is lost when the command ends
		declared.MinStep, declared.MaxStep = uint64(n), uint64(n)
	}
	one := *c
	one.Generators = maps.Clone(c.Generators)
	one.Generators[name] = declared
	set := generators.New(generators.Options{KV: conn.kv.Under(cluster.SegmentPrefix), Name: "locus id next", Secrets: conn.config.Secrets.Lookup, Lazy: true})
	defer func() { err = errors.Join(err, set.Close()) }()
	return set.Next(ctx, generators.Request{Declared: &one, Name: name, Count: n})
}

// showNext prints what nextOf makes.
func (n *next) showNext(ctx context.Context, conn *connection, c *cluster.Cluster) error {
	texts, err := nextOf(ctx, conn, c, n.generator, n.count)
	if err != nil {
		return err
	}
	return n.in.show(texts, func(w io.Writer) {
		for _, text := range texts {
			fmt.Fprintln(w, text)
		}
	})
}

// field is a part of a generator's number.
type field struct {
	Field string `json:"field"`
	Value string `json:"value"`
}

// partsOf takes a generator's number apart.
func partsOf(g cluster.Generator, text string) ([]field, error) {
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return nil, misused("%s is no number of a generator", text)
	}
	bitsOf := func(name string, shift, width uint) field {
		return field{name, strconv.FormatUint(n>>shift&(1<<width-1), 10)}
	}
	switch g.Kind {
	case cluster.SnowflakeGenerator:
		at, worker, sequence := snowflake.Parts(n)
		return []field{{"time", at.Format(time.RFC3339Nano)}, {"worker", strconv.Itoa(worker)}, {"sequence", strconv.Itoa(sequence)}}, nil
	case cluster.BucketsGenerator:
		return []field{bitsOf("epoch", 26, 37), bitsOf("bucket", 18, 8), bitsOf("counter", 0, 18)}, nil
	case cluster.HAGenerator:
		low := uint(bits.TrailingZeros(uint(len(g.Of))))
		return []field{{"generator", g.Of[n&(1<<low-1)]}, bitsOf("number", low, 63-low)}, nil
	case cluster.QueueGenerator:
		return []field{{"generator", g.Of[0]}, bitsOf("number", g.Bits, 63-g.Bits), bitsOf("low bits", 0, g.Bits)}, nil
	case cluster.AutoIncrementGenerator:
		low := uint(bits.TrailingZeros(uint(len(g.Shards))))
		return []field{bitsOf("row", low, 63-low), bitsOf("table", 0, low)}, nil
	case cluster.SegmentGenerator, cluster.RedisGenerator, cluster.MemcachedGenerator, cluster.RowGenerator:
		return []field{bitsOf("number", 0, 63)}, nil
	case cluster.FormatGenerator:
	}
	return nil, misused("a generator of kind %s makes texts, which have no fields", g.Kind)
}

// showParts prints them.
func (in *invocation) showParts(c *cluster.Cluster, name, text string) error {
	g, known := c.Generators[name]
	if !known {
		return fmt.Errorf("generator %s is not declared: locus get", name)
	}
	parts, err := partsOf(g, text)
	if err != nil {
		return err
	}
	return in.show(parts, func(w io.Writer) {
		var rows [][]string
		for _, p := range parts {
			rows = append(rows, []string{p.Field, p.Value})
		}
		columns(w, rows)
	})
}
