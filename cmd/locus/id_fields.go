package main

import (
	"context"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"locus/idgen/cipher"
	templates "locus/idgen/format"
	"locus/idgen/gene"
	"locus/router/cluster"
)

// field is a part of a generator's number.
type field struct {
	Field string `json:"field"`
	Value string `json:"value"`
}

// bitField is the position of a field in the number, and its conversion from and to text.
type bitField struct {
	name         string
	shift, width uint
	spell        func(uint64) string
	read         func(string) (uint64, error)
}

func decimal(name string, shift, width uint) bitField {
	return bitField{
		name, shift, width,
		func(n uint64) string { return strconv.FormatUint(n, 10) },
		func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) },
	}
}

// oneOf returns a field that holds the index of a name in a list.
func oneOf(field string, names []string, width uint) bitField {
	return bitField{
		field, 0, width,
		func(n uint64) string { return names[n] },
		func(text string) (uint64, error) {
			i := slices.Index(names, text)
			if i < 0 {
				return 0, fmt.Errorf("it is one of %s", strings.Join(names, ", "))
			}
			return uint64(i), nil
		},
	}
}

// momentOf returns the field with a snowflake's time.
func momentOf(start time.Time, shift, width uint) bitField {
	return bitField{
		"time", shift, width,
		func(n uint64) string {
			return start.Add(time.Duration(n) * time.Millisecond).Format(time.RFC3339Nano)
		},
		func(text string) (uint64, error) {
			at, err := time.Parse(time.RFC3339Nano, text)
			if err != nil || at.Before(start) {
				return 0, fmt.Errorf("write a time such as %s, or a later one", start.Format(time.RFC3339Nano))
			}
			return uint64(at.Sub(start).Milliseconds()), nil
		},
	}
}

// bitsOf returns the fields of a generator's numbers, the highest bits first; none if it makes texts.
func bitsOf(g cluster.Generator) []bitField {
	low := func(of int) uint { return uint(bits.TrailingZeros(uint(of))) }
	switch g.Kind {
	case cluster.SnowflakeGenerator:
		return []bitField{momentOf(g.Since(), 22, 41), decimal("worker", 12, 10), decimal("sequence", 0, 12)}
	case cluster.BucketsGenerator:
		return []bitField{decimal("epoch", 26, 37), decimal("bucket", 18, 8), decimal("counter", 0, 18)}
	case cluster.HAGenerator:
		n := low(len(g.Of))
		return []bitField{decimal("number", n, 63-n), oneOf("generator", g.Of, n)}
	case cluster.AutoIncrementGenerator:
		n := low(len(g.Shards))
		return []bitField{decimal("row", n, 63-n), decimal("table", 0, n)}
	case cluster.QueueGenerator:
		return []bitField{decimal("number", g.Bits, 63-g.Bits), decimal("low", 0, g.Bits)}
	case cluster.SegmentGenerator, cluster.RedisGenerator, cluster.MemcachedGenerator, cluster.RowGenerator:
		return []bitField{decimal("number", 0, 63)}
	case cluster.FormatGenerator:
	}
	return nil
}

// made is a generator together with the values that are needed to decode its texts.
type made struct {
	cluster.Generator
	name string
	ring *cipher.Ring // nil if there is none
}

// values returns the values with which a template reads and makes texts.
func (g made) values() templates.Values {
	v := templates.Values{Name: g.name}
	if g.ring != nil {
		v.Hider = g.ring
	}
	return v
}

// partsOf splits a generator's number, or text, into its fields.
func partsOf(g made, text string) ([]field, error) {
	fields := bitsOf(g.Generator)
	if fields == nil {
		return partsOfText(g, text)
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return nil, misused("%s is no number of a generator", text)
	}
	var parts []field
	for _, f := range fields {
		parts = append(parts, field{f.name, f.spell(n >> f.shift & (1<<f.width - 1))})
	}
	return parts, nil
}

// partsOfText splits a text that a template has made into its fields.
func partsOfText(g made, text string) ([]field, error) {
	t, err := templates.Parse(g.Template, templates.Parts())
	if err != nil {
		return nil, err
	}
	read, sequence, err := t.Read(text, g.values())
	if err != nil {
		return nil, usageError{err}
	}
	var parts []field
	for _, f := range read {
		if f.Name == "seq" {
			f.Text = strconv.FormatUint(sequence, 10)
		}
		parts = append(parts, field{f.Name, f.Text})
	}
	return parts, nil
}

// composed is the reverse of partsOf. It returns the number of the given fields, or the text that a template
// makes of seq, time and values.
func composed(ctx context.Context, g made, parts map[string]string, now time.Time) (string, error) {
	fields := bitsOf(g.Generator)
	if fields == nil {
		return formatted(ctx, g, parts, now)
	}
	left := maps.Clone(parts)
	var n uint64
	for _, f := range fields {
		text, given := left[f.name]
		delete(left, f.name)
		if !given && f.width > 0 {
			return "", misused("--part %s=… is missing: a number of kind %s has %s", f.name, g.Kind, names(fields))
		}
		if f.width == 0 {
			continue
		}
		value, err := f.read(text)
		if err != nil {
			return "", misused("--part %s=%s: %v", f.name, text, err)
		}
		if value >= 1<<f.width {
			return "", misused("--part %s=%s: it has %d bits", f.name, text, f.width)
		}
		n |= value << f.shift
	}
	for name := range left {
		return "", misused("--part %s: a number of kind %s has %s", name, g.Kind, names(fields))
	}
	return strconv.FormatUint(n, 10), nil
}

func names(fields []bitField) string {
	var list []string
	for _, f := range fields {
		list = append(list, f.name)
	}
	return strings.Join(list, ", ")
}

// geneWidth returns the width of genes that a template shows.
func geneWidth(t *templates.Template) gene.Width {
	if _, digits, _ := t.GeneAt(); digits > 4 {
		return gene.W23
	}
	return gene.W16
}

// formatted returns the text that a template makes of the sequence and the time in parts. The other parts are
// values for {context:…}.
func formatted(ctx context.Context, g made, parts map[string]string, now time.Time) (string, error) {
	t, err := templates.Parse(g.Template, templates.Parts())
	if err != nil {
		return "", err
	}
	seq, err := strconv.ParseUint(parts["seq"], 10, 63)
	if err != nil {
		return "", misused("--part seq=%s: give the number of the sequence", parts["seq"])
	}
	if text, given := parts["time"]; given {
		if now, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return "", misused("--part time=%s: write a time such as 2026-03-04T05:06:07Z", text)
		}
	}
	next := func(context.Context, templates.Scope) (uint64, error) { return seq, nil }
	given := g.values()
	given.Now, given.Context = now, parts
	if text, there := parts["gene"]; there {
		g, err := strconv.ParseUint(text, 16, 32)
		if err != nil || g > uint64(geneWidth(t).Last()) {
			return "", misused("--part gene=%s: give the gene in hexadecimal, such as 3eab", text)
		}
		given.Gene, given.Width = gene.Gene(g), geneWidth(t)
	}
	text, err := t.Make(ctx, next, given)
	if err != nil {
		return "", usageError{err}
	}
	return text, nil
}
