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

// Encode writes a valid cluster as documents by key, relative to [Prefix], without those that can't be used.
func Encode(c *Cluster) map[string][]byte {
	documents := map[string][]byte{}
	if _, skipped := c.Unreadable[SettingsKey]; !skipped {
		documents[SettingsKey] = marshal(settingsDocument{Schema, c.Settings})
	}
	if _, skipped := c.Unreadable[MapKey]; !skipped && c.Unrouted == "" {
		documents[MapKey] = router.Encode(c.Routes, c.Stamp)
	}
	for name, s := range c.Shards {
		if s.Unreadable != "" {
			continue
		}
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

// Decode reads all keys under a cluster's [Prefix]. Documents that can't be used are in [Cluster.Unreadable], and what needs
// them is refused. Without any document that can be read it is ErrNotDeclared.
func Decode(documents map[string][]byte) (*Cluster, error) { return DecodeAfter(documents, nil) }

// DecodeAfter is Decode for a process in which the cluster before, which may be nil, is in force. Settings and a route map
// that can't be read stay as they were there.
func DecodeAfter(documents map[string][]byte, before *Cluster) (*Cluster, error) {
	d := newDecoder()
	for _, key := range slices.Sorted(maps.Keys(documents)) {
		if err := d.document(key, documents[key]); err != nil {
			d.c.skip(key, err)
		}
	}
	if len(documents) == len(d.c.Unreadable) && !d.known(documents) {
		return nil, ErrNotDeclared
	}
	for _, key := range []string{SettingsKey, MapKey} {
		if _, there := documents[key]; !there {
			d.c.skip(key, errors.New("the document is missing"))
		}
	}
	d.c.fit(before)
	d.refused()
	return d.c, nil
}

// decoder collects a cluster from its documents.
type decoder struct{ c *Cluster }

func newDecoder() decoder {
	return decoder{c: &Cluster{
		Shards:     map[router.ShardName]Shard{},
		Primaries:  map[router.ShardName]Primary{},
		Tables:     map[catalog.TableName]catalog.Declaration{},
		Users:      map[string]User{},
		Generators: map[string]Generator{},
		Renaming:   map[catalog.TableName]catalog.TableName{},
		Counters:   map[catalog.TableName]catalog.TableName{},
		Unreadable: map[string]Unreadable{},
		Refused:    map[catalog.TableName]string{},
	}}
}

// known reports whether one of the documents that every cluster has is there.
func (d *decoder) known(documents map[string][]byte) bool {
	_, settings := documents[SettingsKey]
	_, routes := documents[MapKey]
	return settings || routes
}

// refused refuses the tables that documents which can't be read are about.
func (d *decoder) refused() {
	for _, key := range d.c.UnreadableKeys() {
		for _, prefix := range []string{TablePrefix, RenamingPrefix, CountersPrefix} {
			text, is := strings.CutPrefix(key, prefix)
			if !is {
				continue
			}
			if name, err := catalog.ParseTableKey(text); err == nil {
				d.c.refuse(name, key)
			} else {
				d.c.refuseLike(text, key)
			}
		}
	}
}

// document reads one document. After an error nothing of it is in the cluster.
func (d *decoder) document(key string, text []byte) error {
	name := key[strings.IndexByte(key, '/')+1:]
	switch {
	case key == SettingsKey:
		return read(text, func(s settingsDocument) error {
			if s.Hash == "" { // which every writer names
				return errors.New("it names no hash")
			}
			d.c.Settings = s.Settings
			return nil
		})
	case key == MapKey:
		m, stamp, err := router.Decode(text)
		if err == nil {
			d.c.Routes, d.c.Stamp = m, stamp
		}
		return err
	case strings.HasPrefix(key, ShardPrefix):
		return read(text, func(s shardDocument) error {
			err := router.ShardName(name).Validate()
			if err == nil {
				d.c.Shards[router.ShardName(name)] = s.withDefaults()
			}
			return err
		})
	case strings.HasPrefix(key, PrimaryPrefix):
		return read(text, func(p primaryDocument) error { d.c.Primaries[router.ShardName(name)] = p.Primary; return nil })
	case strings.HasPrefix(key, UserPrefix):
		return read(text, func(u userDocument) error { d.c.Users[name] = u.User; return nil })
	case strings.HasPrefix(key, GeneratorPrefix):
		return read(text, func(g generatorDocument) error { d.c.Generators[name] = g.Generator; return nil })
	case strings.HasPrefix(key, RenamingPrefix):
		return read(text, func(r renamingDocument) error { return names(name, r.From, d.c.Renaming) })
	case strings.HasPrefix(key, CountersPrefix):
		return read(text, func(c countersDocument) error { return names(name, c.Of, d.c.Counters) })
	case strings.HasPrefix(key, TablePrefix):
		return read(text, func(t tableDocument) error {
			table, err := catalog.ParseTableKey(name)
			if err == nil {
				d.c.Tables[table] = t.Declaration
			}
			return err
		})
	}
	return errors.New("this build knows no such document: upgrade locus, or remove the document if it was made by mistake")
}

// read reads a document and hands it over.
func read[T any](text []byte, take func(T) error) error {
	var v T
	if err := decodeStrict(text, &v); err != nil {
		return err
	}
	return take(v)
}

// CheckDocument returns why one document, by its key relative to [Prefix], can't be read.
func CheckDocument(key string, text []byte) error {
	d := newDecoder()
	return d.document(key, text)
}
