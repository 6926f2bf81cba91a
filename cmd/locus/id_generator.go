package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"

	"locus/control/generators"
	"locus/idgen/cipher"
	templates "locus/idgen/format"
	"locus/router/cluster"
)

// nextOf makes numbers or texts of a declared generator, in the process of this command.
func nextOf(ctx context.Context, conn *connection, c *cluster.Cluster, keys *cipher.Ring, r generators.Request) (texts []string, err error) {
	name, n := r.Name, r.Count
	declared, err := declaredGenerator(c, name)
	if err != nil {
		return nil, err
	}
	for _, of := range c.GeneratorTree(name) {
		if c.Generators[of].Kind == cluster.SnowflakeGenerator {
			return nil, fmt.Errorf("generator %s is a snowflake, and each process that makes some has a worker's number for a day: ask a proxy, by SELECT NEXT VALUE FOR %s or GET /api/id/%s", of, name, name)
		}
	}
	if declared.Kind == cluster.SegmentGenerator { // the rest of a segment is lost when the command ends
		declared.MinStep, declared.MaxStep = uint64(n), uint64(n)
	}
	one := *c
	one.Generators = maps.Clone(c.Generators)
	one.Generators[name] = declared
	set := generators.New(generators.Options{KV: conn.kv.Under(cluster.SegmentPrefix), Name: "locus id next", Secrets: conn.config.Secrets.Lookup, Lazy: true, Ring: func() *cipher.Ring { return keys }})
	defer func() { err = errors.Join(err, set.Close()) }()
	r.Declared = &one
	return set.Next(ctx, r)
}

// showNext prints the results of nextOf.
func (n *next) showNext(ctx context.Context, conn *connection, c *cluster.Cluster, keys *cipher.Ring) error {
	texts, err := nextOf(ctx, conn, c, keys, generators.Request{Name: n.generator, Count: n.count, Context: n.context})
	if errors.As(err, new(templates.ValueError)) {
		return usageError{err}
	}
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

// madeBy returns a declared generator with its key ring.
func madeBy(c *cluster.Cluster, name string, ring func() (*cipher.Ring, error)) (made, error) {
	g, err := declaredGenerator(c, name)
	if err != nil {
		return made{}, err
	}
	keys, err := ring()
	return made{g, name, keys}, err
}

// showParts prints the fields of a generator's number or text.
func (in *invocation) showParts(g made, text string) error {
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

// showComposed prints the number or text that consists of the given fields.
func (in *invocation) showComposed(ctx context.Context, g made, parts map[string]string) error {
	text, err := composed(ctx, g, parts, in.now())
	if err != nil {
		return err
	}
	return in.show(text, func(w io.Writer) { fmt.Fprintln(w, text) })
}
