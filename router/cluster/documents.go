package cluster

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"locus/router"
	"locus/router/catalog"
)

// Each document has its schema beside its fields.
type (
	settingsDocument struct {
		Schema   int `yaml:"schema"`
		Settings `yaml:",inline"`
	}
	shardDocument struct {
		Schema int `yaml:"schema"`
		Shard  `yaml:",inline"`
	}
	primaryDocument struct {
		Schema  int `yaml:"schema"`
		Primary `yaml:",inline"`
	}
	tableDocument struct {
		Schema              int `yaml:"schema"`
		catalog.Declaration `yaml:",inline"`
	}
	generatorDocument struct {
		Schema    int `yaml:"schema"`
		Generator `yaml:",inline"`
	}
	userDocument struct {
		Schema int `yaml:"schema"`
		User   `yaml:",inline"`
	}
)

// ErrNotDeclared is the error of Decode where there is no document at all: no
// cluster was declared under this prefix.
var ErrNotDeclared = errors.New("no cluster is declared here")

// Encode writes a valid cluster as documents by key, relative to [Prefix].
func Encode(c *Cluster) map[string][]byte {
	documents := map[string][]byte{
		SettingsKey: marshal(settingsDocument{Schema, c.Settings}),
		MapKey:      router.Encode(c.Routes, c.Stamp),
	}
	for name, s := range c.Shards {
		documents[ShardKey(name)] = marshal(shardDocument{Schema, s.Declared()})
	}
	for name, p := range c.Primaries {
		documents[PrimaryKey(name)] = p.Encode()
	}
	for name, d := range c.Tables {
		documents[TableKey(name)] = marshal(tableDocument{Schema, d})
	}
	for name, u := range c.Users {
		documents[UserKey(name)] = marshal(userDocument{Schema, u})
	}
	for name, from := range c.Renaming {
		documents[RenamingKey(name)] = marshal(renamingDocument{Schema, from.String()})
	}
	for name, of := range c.Counters {
		documents[CountersKey(name)] = marshal(countersDocument{Schema, of.String()})
	}
	for name, g := range c.Generators {
		documents[GeneratorKey(name)] = marshal(generatorDocument{Schema, g})
	}
	return documents
}

func marshal(v any) []byte {
	text, err := yaml.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("cluster: plain fields can't fail to marshal: %v", err))
	}
	return text
}

// Decode reads all keys under a cluster's [Prefix]. All problems are reported at
// once, those of documents that can't be read first. Without any key it is
// ErrNotDeclared. A key that this build doesn't know is an error: what it says
// might be needed to route rightly.
func Decode(documents map[string][]byte) (*Cluster, error) {
	if len(documents) == 0 {
		return nil, ErrNotDeclared
	}
	d := decoder{c: &Cluster{
		Shards:     map[router.ShardName]Shard{},
		Primaries:  map[router.ShardName]Primary{},
		Tables:     map[catalog.TableName]catalog.Declaration{},
		Users:      map[string]User{},
		Generators: map[string]Generator{},
		Renaming:   map[catalog.TableName]catalog.TableName{},
		Counters:   map[catalog.TableName]catalog.TableName{},
	}}
	for _, key := range slices.Sorted(maps.Keys(documents)) {
		d.document(key, documents[key])
	}
	d.finish(documents)
	if err := errors.Join(d.problems...); err != nil {
		return nil, err
	}
	return d.c, nil
}

// decoder collects a cluster and what is wrong with its documents.
type decoder struct {
	c        *Cluster
	problems problems
}

func (d *decoder) document(key string, text []byte) {
	name := key[strings.IndexByte(key, '/')+1:]
	switch {
	case key == SettingsKey:
		var s settingsDocument
		d.read(key, text, &s)
		d.c.Settings = s.Settings
	case key == MapKey:
		m, stamp, err := router.Decode(text)
		if err != nil {
			d.problems.add(key, "%w", err)
			return
		}
		d.c.Routes, d.c.Stamp = m, stamp
	case strings.HasPrefix(key, ShardPrefix):
		var s shardDocument
		d.read(key, text, &s)
		d.c.Shards[router.ShardName(name)] = s.withDefaults()
	case strings.HasPrefix(key, PrimaryPrefix):
		var p primaryDocument
		d.read(key, text, &p)
		d.c.Primaries[router.ShardName(name)] = p.Primary
	case strings.HasPrefix(key, UserPrefix):
		var u userDocument
		d.read(key, text, &u)
		d.c.Users[name] = u.User
	case strings.HasPrefix(key, GeneratorPrefix):
		var g generatorDocument
		d.read(key, text, &g)
		d.c.Generators[name] = g.Generator
	case strings.HasPrefix(key, RenamingPrefix):
		var r renamingDocument
		d.read(key, text, &r)
		d.names(key, name, r.From, d.c.Renaming)
	case strings.HasPrefix(key, CountersPrefix):
		var c countersDocument
		d.read(key, text, &c)
		d.names(key, name, c.Of, d.c.Counters)
	case strings.HasPrefix(key, TablePrefix):
		var t tableDocument
		d.read(key, text, &t)
		table, err := catalog.ParseTableName(name)
		if err != nil {
			d.problems.add(key, "%w", err)
			return
		}
		d.c.Tables[table] = t.Declaration
	default:
		d.problems.add(key, "this build knows no such document: upgrade locus, or delete the key if it was made by mistake")
	}
}

func (d *decoder) read(key string, text []byte, into any) {
	if err := decodeStrict(text, into); err != nil {
		d.problems.add(key, "%w", err)
	}
}

// finish looks for what is missing, and at how the documents fit together
// unless some could not be read: what follows from that would only distract.
func (d *decoder) finish(documents map[string][]byte) {
	for _, key := range []string{SettingsKey, MapKey} {
		if _, there := documents[key]; !there {
			d.problems.add(key, "the document is missing")
		}
	}
	if len(d.problems) > 0 {
		return
	}
	d.c.Settings = d.c.Settings.withDefaults(d.c.ShardNames())
	d.c.resolve()
	d.problems = append(d.c.problems(), d.c.primaryProblems()...)
}
