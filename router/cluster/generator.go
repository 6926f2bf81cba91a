package cluster

import (
	"fmt"
	"net"
	"regexp"
	"slices"

	"locus/idgen/format"
)

// GeneratorKind says how a generator makes its numbers.
type GeneratorKind string

const (
	SegmentGenerator   GeneratorKind = "segment"
	SnowflakeGenerator GeneratorKind = "snowflake"
	RedisGenerator     GeneratorKind = "redis"
	BucketsGenerator   GeneratorKind = "buckets"
	MemcachedGenerator GeneratorKind = "memcached"
	HAGenerator        GeneratorKind = "ha"
	QueueGenerator     GeneratorKind = "queue"
	FormatGenerator    GeneratorKind = "format"
)

// Generator is a declared source of numbers, or of texts, by a name.
type Generator struct {
	Kind GeneratorKind `yaml:"kind"`
	// Server is the host:port of Redis or memcached. With kind segment it is a
	// Redis in front of etcd.
	Server string `yaml:"server,omitempty"`
	// Secret names the password of Redis.
	Secret string `yaml:"secret,omitempty"`
	// Keys splits a redis generator over so many keys.
	Keys int `yaml:"keys,omitempty"`
	// Of are the generators that ha takes in turn, and the one of queue and format.
	Of []string `yaml:"of,omitempty,flow"`
	// Bits is how many low bits a queue makes in memory.
	Bits uint `yaml:"bits,omitempty"`
	// Template is that of a format.
	Template string `yaml:"template,omitempty"`
	// MinStep and MaxStep bound a segment.
	MinStep uint64 `yaml:"min_step,omitempty"`
	MaxStep uint64 `yaml:"max_step,omitempty"`
}

var generatorName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// checkGenerator reports what is wrong with a generator.
func (c *Cluster) checkGenerator(p *problems, name string, g Generator) {
	document := "generator " + name
	if !generatorName.MatchString(name) {
		p.add("generators", "name %q: use 1 to 64 letters, digits and '_', a letter first", name)
	}
	needs := map[GeneratorKind]generatorFields{
		SegmentGenerator:   {server: optional, steps: true},
		SnowflakeGenerator: {},
		RedisGenerator:     {server: needed, keys: true},
		BucketsGenerator:   {server: needed},
		MemcachedGenerator: {server: needed},
		HAGenerator:        {of: true},
		QueueGenerator:     {of: true, bits: true},
		FormatGenerator:    {template: true},
	}
	fields, known := needs[g.Kind]
	if !known {
		p.add(document, "kind %q: use segment, snowflake, redis, buckets, memcached, ha, queue or format", g.Kind)
		return
	}
	for _, problem := range fields.problems(g) {
		p.add(document, "%s", problem)
	}
	if g.Kind == FormatGenerator && g.Template != "" {
		if _, err := format.Parse(g.Template, format.Parts()); err != nil {
			p.add(document, "%w", err)
		}
	}
	for _, of := range g.Of {
		inner, declared := c.Generators[of]
		switch {
		case !declared:
			p.add(document, "of %q: no such generator is declared", of)
		case len(inner.Of) > 0 || inner.Kind == FormatGenerator:
			p.add(document, "of %s: a generator of others takes such as make numbers themselves", of)
		}
	}
	n := len(g.Of)
	switch {
	case g.Kind == HAGenerator && (n < 2 || n&(n-1) != 0 || n > 1024):
		p.add(document, "of: %d generators: ha takes 2, 4, 8 … of them, since the index is the low bits", n)
	case g.Kind == QueueGenerator && n != 1:
		p.add(document, "of: %d generators: a queue stands in front of one", n)
	case n != len(slices.Compact(slices.Sorted(slices.Values(g.Of)))):
		p.add(document, "of: a generator is named twice")
	}
}

type presence int

const (
	absent presence = iota
	optional
	needed
)

// generatorFields are what a kind takes.
type generatorFields struct {
	server                          presence
	keys, of, bits, template, steps bool
}

func (f generatorFields) problems(g Generator) []string {
	var list []string
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	_, _, err := net.SplitHostPort(g.Server)
	refuse(f.server == needed && g.Server == "", "server is missing: give its host:port")
	refuse(f.server == absent && g.Server != "", "server: kind %s has none", g.Kind)
	refuse(g.Server != "" && err != nil, "server %q: write host:port", g.Server)
	refuse(g.Secret != "" && g.Server == "", "secret is for a server")
	refuse(g.Keys < 0 || g.Keys > 1024 || g.Keys > 0 && !f.keys, "keys %d: kind redis takes 1 to 1024", g.Keys)
	refuse(len(g.Of) > 0 && !f.of, "of: kind %s has none", g.Kind)
	refuse(g.Bits > 20 || g.Bits > 0 && !f.bits, "bits %d: kind queue takes 0 to 20", g.Bits)
	refuse((g.Template == "") == f.template, "template: kind format needs one, others have none")
	refuse((g.MinStep > 0 || g.MaxStep > 0) && !f.steps, "min_step and max_step are for kind segment")
	refuse(g.MinStep > g.MaxStep && g.MaxStep > 0, "min_step %d is above max_step %d", g.MinStep, g.MaxStep)
	refuse(g.MaxStep > 1<<32, "max_step %d is above %d", g.MaxStep, uint64(1)<<32)
	return list
}
