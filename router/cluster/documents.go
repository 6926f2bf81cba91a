package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"locus/router"
	"locus/router/catalog"
)

// Each document contains the schema in addition to its fields.
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

// ErrNotDeclared is the error of Decode if no cluster is declared under the prefix: there is no document that every cluster has, and no other
// readable one.
var ErrNotDeclared = errors.New("no cluster is declared here")

// Encode returns the documents of a valid cluster by key relative to [Prefix], without those that can't be used.
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

// Decode decodes all keys under a cluster's [Prefix]. Documents that can't be used are in [Cluster.Unreadable], and statements that need them
// are refused. It returns ErrNotDeclared if no cluster is declared.
func Decode(documents map[string][]byte) (*Cluster, error) {
	return new(Decoder).Decode(documents, nil)
}

// Decoder decodes a cluster's documents repeatedly. It parses a document only if its text has changed since the last call. The zero Decoder is
// ready for use. It is safe for concurrent use.
type Decoder struct {
	mu     sync.Mutex
	parsed map[string]parsed
	last   *Cluster // the result of the last call
}

// parsed is the content of one document.
type parsed struct {
	text []byte
	put  func(*Cluster) // adds the content to a cluster
	err  error          // why the document can't be read; put is nil then
}

// Decode is [Decode] for a process in which the cluster before is in force, which may be nil. If settings or the route map
// can't be read, it uses before's. If no document has changed since before was decoded, it returns before. The Decoder keeps
// the texts, so they must not be modified.
func (d *Decoder) Decode(documents map[string][]byte, before *Cluster) (*Cluster, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if changed := d.parse(documents); !changed && before != nil && before == d.last {
		return before, nil
	}
	c := &Cluster{
		Shards:     map[router.ShardName]Shard{},
		Primaries:  map[router.ShardName]Primary{},
		Tables:     map[catalog.TableName]catalog.Declaration{},
		Users:      map[string]User{},
		Generators: map[string]Generator{},
		Renaming:   map[catalog.TableName]catalog.TableName{},
		Counters:   map[catalog.TableName]catalog.TableName{},
		Unreadable: map[string]Unreadable{},
		Refused:    map[catalog.TableName]string{},
	}
	for _, key := range slices.Sorted(maps.Keys(d.parsed)) {
		if p := d.parsed[key]; p.err != nil {
			c.skip(key, p.err)
		} else {
			p.put(c)
		}
	}
	if len(documents) == len(c.Unreadable) && !known(documents) {
		return nil, ErrNotDeclared
	}
	for _, key := range []string{SettingsKey, MapKey} {
		if _, there := documents[key]; !there {
			c.skip(key, errors.New("the document is missing"))
		}
	}
	c.fit(before)
	c.refuseUnreadable()
	d.last = c
	return c, nil
}

// parse parses the documents with new texts, and reports whether any text has changed since the last call.
func (d *Decoder) parse(documents map[string][]byte) (changed bool) {
	next := make(map[string]parsed, len(documents))
	for key, text := range documents {
		p, is := d.parsed[key]
		if !is || !bytes.Equal(p.text, text) {
			changed = true
			p = parsed{text: text}
			p.put, p.err = parseDocument(key, text)
		}
		next[key] = p
	}
	changed = changed || len(next) != len(d.parsed)
	d.parsed = next
	return changed
}

// known reports whether one of the documents that every cluster has exists.
func known(documents map[string][]byte) bool {
	_, settings := documents[SettingsKey]
	_, routes := documents[MapKey]
	return settings || routes
}

// refuseUnreadable refuses the tables whose documents can't be read.
func (c *Cluster) refuseUnreadable() {
	for _, key := range c.UnreadableKeys() {
		for _, prefix := range []string{TablePrefix, RenamingPrefix, CountersPrefix} {
			text, is := strings.CutPrefix(key, prefix)
			if !is {
				continue
			}
			if name, err := catalog.ParseTableKey(text); err == nil {
				c.refuse(name, key)
			} else {
				c.refuseLike(text, key)
			}
		}
	}
}

// parseDocument parses one document, and returns the function that adds its content to a cluster.
func parseDocument(key string, text []byte) (put func(*Cluster), err error) {
	name := key[strings.IndexByte(key, '/')+1:]
	switch {
	case key == SettingsKey:
		return parse(text, func(s settingsDocument) (func(*Cluster), error) {
			if s.Hash == "" { // every writer sets it
				return nil, errors.New("it names no hash")
			}
			return func(c *Cluster) { c.Settings = s.Settings }, nil
		})
	case key == MapKey:
		m, stamp, err := router.Decode(text)
		return func(c *Cluster) { c.Routes, c.Stamp = m, stamp }, err
	case strings.HasPrefix(key, ShardPrefix):
		return parse(text, func(s shardDocument) (func(*Cluster), error) {
			shard := router.ShardName(name)
			return func(c *Cluster) { c.Shards[shard] = s.withDefaults() }, shard.Validate()
		})
	case strings.HasPrefix(key, PrimaryPrefix):
		return parse(text, func(p primaryDocument) (func(*Cluster), error) {
			return func(c *Cluster) { c.Primaries[router.ShardName(name)] = p.Primary }, nil
		})
	case strings.HasPrefix(key, UserPrefix):
		return parse(text, func(u userDocument) (func(*Cluster), error) {
			return func(c *Cluster) { c.Users[name] = u.User }, nil
		})
	case strings.HasPrefix(key, GeneratorPrefix):
		return parse(text, func(g generatorDocument) (func(*Cluster), error) {
			return func(c *Cluster) { c.Generators[name] = g.Generator }, nil
		})
	}
	return parseTableDocument(key, name, text)
}

// parseTableDocument is parseDocument for documents about tables.
func parseTableDocument(key, name string, text []byte) (put func(*Cluster), err error) {
	switch {
	case strings.HasPrefix(key, RenamingPrefix):
		return parse(text, func(r renamingDocument) (func(*Cluster), error) {
			table, from, err := parseNames(name, r.From)
			return func(c *Cluster) { c.Renaming[table] = from }, err
		})
	case strings.HasPrefix(key, CountersPrefix):
		return parse(text, func(r countersDocument) (func(*Cluster), error) {
			table, of, err := parseNames(name, r.Of)
			return func(c *Cluster) { c.Counters[table] = of }, err
		})
	case strings.HasPrefix(key, TablePrefix):
		return parse(text, func(t tableDocument) (func(*Cluster), error) {
			table, err := catalog.ParseTableKey(name)
			return func(c *Cluster) { c.Tables[table] = t.Declaration }, err
		})
	}
	return nil, errors.New("this build knows no such document: upgrade locus, or remove the document if it was made by mistake")
}

// parse parses a text and passes its content to the function.
func parse[T any](text []byte, then func(T) (func(*Cluster), error)) (func(*Cluster), error) {
	var v T
	if err := decodeStrict(text, &v); err != nil {
		return nil, err
	}
	return then(v)
}

// CheckDocument returns why one document can't be read, or nil. key is relative to [Prefix].
func CheckDocument(key string, text []byte) error {
	_, err := parseDocument(key, text)
	return err
}
