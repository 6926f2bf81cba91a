package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"

	"locus/router"
	"locus/router/catalog"
)

// file is cluster.yaml.
type file struct {
	Schema     int                            `yaml:"schema"`
	Settings   Settings                       `yaml:"settings"`
	Shards     map[router.ShardName]Shard     `yaml:"shards"`
	Tables     map[string]catalog.Declaration `yaml:"tables"`
	Users      map[string]User                `yaml:"users"`
	Generators map[string]Generator           `yaml:"generators"`
	Routes     routes                         `yaml:"routes"`
}

// Parse parses cluster.yaml. If the text isn't YAML or has an unknown field, the error names the line. Otherwise all problems
// are reported at once. Omitted settings get their defaults. Omitted routes are nil: [Succeed] then uses the existing
// cluster's.
func Parse(text []byte) (*Cluster, error) {
	var f file
	if err := decodeStrict(text, &f); err != nil {
		return nil, err
	}
	c, problems := f.cluster()
	problems = append(problems, c.problems()...)
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return c, nil
}

func (f *file) cluster() (*Cluster, []error) {
	var problems []error
	c := &Cluster{
		Shards:     map[router.ShardName]Shard{},
		Tables:     map[catalog.TableName]catalog.Declaration{},
		Users:      map[string]User{},
		Generators: map[string]Generator{},
	}
	for name, s := range f.Shards {
		c.Shards[name] = s.withDefaults()
	}
	for text, d := range f.Tables {
		name, err := catalog.ParseTableName(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("tables: %w", err))
			continue
		}
		c.Tables[name] = undecided(d)
	}
	maps.Copy(c.Users, f.Users)
	maps.Copy(c.Generators, f.Generators)
	c.setAddresses()
	c.Settings = f.Settings.withDefaults(c.ShardNames())
	if !c.Settings.GeneBits.Valid() {
		return c, problems // the number of genes in the routes is unknown
	}
	if !f.Routes.given {
		return c, problems
	}
	routes, err := f.Routes.routeMap(c.Settings.GeneBits)
	if err != nil {
		return c, append(problems, err)
	}
	c.Routes = routes
	return c, problems
}

// Format returns the cluster as a file that Parse parses. It omits routes if the cluster has none, or if a shard that owns genes can't be
// declared.
func Format(c *Cluster) []byte {
	tables := make(map[string]catalog.Declaration, len(c.Tables))
	for name, d := range c.Tables {
		tables[name.String()] = undecided(d) // undecided omits Kept and Filled, which a file must not change
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "schema: %d\n", Schema)
	section(&out, "settings", c.Settings)
	section(&out, "shards", c.declaredShards())
	section(&out, "tables", tables)
	section(&out, "users", c.Users)
	if len(c.Generators) > 0 {
		section(&out, "generators", c.Generators)
	}
	for _, key := range c.UnreadableKeys() {
		fmt.Fprintf(&out, "\n# Not shown: %s%s can't be used: %s\n", Prefix, comment(key), comment(c.Unreadable[key].Why))
	}
	if c.Routes == nil || c.hasUnreadableOwner() {
		return out.Bytes()
	}
	out.WriteString("\n# " + comment(describe(c.Routes, c.Stamp)) + "\n")
	out.WriteString("# Each line: the last gene of a range, and the shard that owns the range.\nroutes: |\n")
	for _, e := range c.Routes.Entries() {
		fmt.Fprintf(&out, "  %s %s\n", e.Bound.Format(c.Routes.Width()), e.Shard)
	}
	return out.Bytes()
}

// comment returns a text that is valid in a comment's line. YAML refuses control characters and invalid UTF-8 there too.
func comment(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
}

func section(out *bytes.Buffer, name string, v any) {
	out.WriteByte('\n')
	encoder := yaml.NewEncoder(out)
	encoder.SetIndent(2)
	if err := encoder.Encode(map[string]any{name: v}); err != nil {
		panic(fmt.Sprintf("cluster: plain fields can't fail to marshal: %v", err))
	}
}

// describe returns one line about a version of the map.
func describe(m *router.Map, s router.Stamp) string {
	text := fmt.Sprintf("Route map version %d", m.Version())
	if !s.At.IsZero() {
		text += ", " + s.At.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	if s.By != "" {
		text += ", by " + s.By
	}
	if s.Why != "" {
		text += ": " + s.Why
	}
	return text
}

// hasUnreadableOwner reports whether a shard that the file can't declare owns genes.
func (c *Cluster) hasUnreadableOwner() bool {
	return slices.ContainsFunc(c.Routes.Shards(), func(name router.ShardName) bool { return c.Shards[name].Unreadable != "" })
}

// undecided returns a declaration without the information whether a look-up table is maintained and filled.
func undecided(d catalog.Declaration) catalog.Declaration {
	if d.Lookup != nil {
		d.Lookup = &catalog.LookupOf{Table: d.Lookup.Table, Column: d.Lookup.Column, Undecided: true}
	}
	return d
}

// withLookupsOf returns the cluster in which look-up tables of a file are maintained and filled as in the old one, which may
// be nil.
func (c *Cluster) withLookupsOf(old *Cluster) *Cluster {
	next := *c
	for name, d := range c.Tables {
		if d.Lookup == nil || !d.Lookup.Undecided {
			continue
		}
		decided := &catalog.LookupOf{Table: d.Lookup.Table, Column: d.Lookup.Column}
		if old != nil && old.Tables[name].Lookup != nil && old.Tables[name].Lookup.String() == d.Lookup.String() {
			decided = old.Tables[name].Lookup
		}
		d.Lookup = decided
		next.Tables = maps.Clone(next.Tables)
		next.Tables[name] = d
	}
	return &next
}
