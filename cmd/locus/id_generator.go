package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"

	"locus/cmd/generators"
	"locus/router/cluster"
)

// nextOf makes numbers, or texts, of a declared generator, in a process of its own.
func nextOf(ctx context.Context, conn *connection, c *cluster.Cluster, name string, n int) (texts []string, err error) {
	declared, err := declaredGenerator(c, name)
	if err != nil {
		return nil, err
	}
	for _, of := range c.Under(name) {
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

func declaredGenerator(c *cluster.Cluster, name string) (cluster.Generator, error) {
	g, known := c.Generators[name]
	if !known {
		return g, fmt.Errorf("generator %s is not declared: locus get", name)
	}
	return g, nil
}

// showParts takes a generator's number apart.
func (in *invocation) showParts(c *cluster.Cluster, name, text string) error {
	g, err := declaredGenerator(c, name)
	if err != nil {
		return err
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

// showComposed is the opposite of showParts.
func (in *invocation) showComposed(ctx context.Context, c *cluster.Cluster, name string, parts map[string]string) error {
	g, err := declaredGenerator(c, name)
	if err != nil {
		return err
	}
	text, err := composed(ctx, g, parts, in.now())
	if err != nil {
		return err
	}
	return in.show(text, func(w io.Writer) { fmt.Fprintln(w, text) })
}
