package cluster

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locus/router"
	"locus/router/catalog"
)

// Unreadable is the reason why this build can't use a stored document. The build never changes such a document by itself.
type Unreadable struct {
	Why string
	// Follows: the document itself is readable, but another one that it needs is not.
	Follows bool
}

// noRoutes is the shard that owns every gene while the route map is unknown. No statement can reach it.
const noRoutes router.ShardName = "unreadable-route-map"

// skip records that a document can't be used.
func (c *Cluster) skip(key string, why error) { c.record(key, Unreadable{Why: oneLine(why)}) }

// skipWith records that a document can't be used because another one can't.
func (c *Cluster) skipWith(key, other string) {
	c.record(key, Unreadable{Why: fmt.Sprintf("it needs %s%s, which can't be read: %s", Prefix, other, c.Unreadable[other].Why), Follows: true})
}

func (c *Cluster) record(key string, u Unreadable) {
	if _, known := c.Unreadable[key]; !known {
		c.Unreadable[key] = u
	}
}

// oneLine returns joined errors as one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// reason returns the message for a statement that is refused because of a document.
func (c *Cluster) reason(key string) string {
	return fmt.Sprintf("%s%s can't be used: %s; locus doctor shows the remedy", Prefix, key, c.Unreadable[key].Why)
}

// UnreadableKeys returns the keys of the documents that can't be used, relative to [Prefix], sorted.
func (c *Cluster) UnreadableKeys() []string { return slices.Sorted(maps.Keys(c.Unreadable)) }

// Refusing returns why no statement may use a table of this name, or "".
func (c *Cluster) Refusing(name catalog.TableName) string { return c.Refused[name] }

// refuse makes every statement on a table fail, because this build doesn't know where its rows are or how they are numbered.
func (c *Cluster) refuse(name catalog.TableName, key string) {
	if _, declared := c.Tables[name]; declared && key != TableKey(name) {
		c.skipWith(TableKey(name), key)
		delete(c.Tables, name)
	}
	c.Refused[name] = c.reason(key)
}

// refuseLike refuses every undeclared table that the end of an invalid key may mean.
func (c *Cluster) refuseLike(text, key string) {
	for at := range len(text) {
		if text[at] != '.' {
			continue
		}
		for _, name := range []catalog.TableName{{Schema: text[:at], Name: text[at+1:]}, {Schema: strings.Trim(text[:at], "`"), Name: strings.Trim(text[at+1:], "`")}} {
			if _, declared := c.Tables[name]; !declared && name.Schema != "" && name.Name != "" {
				c.Refused[name] = c.reason(key)
			}
		}
	}
}

// fit makes the readable documents consistent. It skips a document that contradicts itself or others, or that needs a document
// that can't be read. before is the cluster that was in force, or nil. If settings or routes can't be read, before's are used.
// While a document can't be read, no job changes the owner of genes.
func (c *Cluster) fit(before *Cluster) {
	c.fitSettings(before)
	c.fitRoutes(before)
	c.fitShards()
	c.fitGenerators()
	for _, name := range c.TableNames() {
		var p problems
		if c.checkTable(&p, name, c.Tables[name]); len(p) > 0 {
			key := TableKey(name)
			c.record(key, Unreadable{Why: oneLine(errors.Join(p...)), Follows: c.needsUnreadable(c.Tables[name])})
			delete(c.Tables, name)
			c.Refused[name] = c.reason(key)
		}
	}
	for _, name := range c.UserNames() {
		var p problems
		if c.Users[name].check(&p, name); len(p) > 0 {
			c.skip(UserKey(name), errors.Join(p...))
			delete(c.Users, name)
		}
	}
}

// needsUnreadable reports whether a declaration names a generator whose document can't be used.
func (c *Cluster) needsUnreadable(d catalog.Declaration) bool {
	for _, g := range d.Stamped {
		if _, skipped := c.Unreadable[GeneratorKey(g)]; skipped {
			return true
		}
	}
	return false
}

func (c *Cluster) fitSettings(before *Cluster) {
	var p problems
	if _, skipped := c.Unreadable[SettingsKey]; !skipped {
		c.Settings = c.Settings.withDefaults(c.ShardNames())
		if c.Settings.check(&p); len(p) == 0 {
			return
		}
		c.skip(SettingsKey, errors.Join(p...))
	}
	if before != nil && before.Unrouted == "" {
		c.Settings = before.Settings
		return
	}
	c.Settings = Settings{DefaultShard: noRoutes}.withDefaults(nil)
	if c.Routes != nil {
		c.Settings.GeneBits = c.Routes.Width()
	}
	c.Unrouted = c.reason(SettingsKey)
}

func (c *Cluster) fitRoutes(before *Cluster) {
	if c.Routes != nil && c.Routes.Width() != c.Settings.GeneBits {
		c.skip(MapKey, fmt.Errorf("genes of %d bits, and settings say gene_bits %d", c.Routes.Width(), c.Settings.GeneBits))
		c.Routes = nil
	}
	switch {
	case c.Routes == nil && c.Unrouted == "" && before != nil && before.Unrouted == "" && before.Routes.Width() == c.Settings.GeneBits:
		c.Routes, c.Stamp = before.Routes, before.Stamp
		return
	case c.Routes == nil && c.Unrouted == "":
		c.Unrouted = c.reason(MapKey)
	}
	if c.Unrouted == "" {
		return
	}
	c.Routes, _ = router.New(c.Settings.GeneBits, 1, []router.Entry{{Bound: c.Settings.GeneBits.Last(), Shard: noRoutes}}) // it is always valid
	c.Shards[noRoutes] = Shard{Unreadable: c.Unrouted}
}

// fitShards marks the shards that can't be reached with these documents. Statements that need them are refused.
func (c *Cluster) fitShards() {
	for _, key := range c.UnreadableKeys() {
		if name, is := strings.CutPrefix(key, ShardPrefix); is {
			c.disableShard(router.ShardName(name), key)
		}
	}
	for _, name := range append(c.Routes.Shards(), c.Settings.DefaultShard) {
		if _, there := c.Shards[name]; !there {
			c.skip(ShardKey(name), errors.New("the document is missing"))
			c.disableShard(name, ShardKey(name))
		}
	}
	c.fitPrimaries()
	c.setAddresses()
	for _, name := range c.ShardNames() {
		var p problems
		if s := c.Shards[name]; s.Unreadable == "" {
			if s.check(&p, name); len(p) > 0 {
				c.skip(ShardKey(name), errors.Join(p...))
				c.disableShard(name, ShardKey(name))
			}
		}
	}
	c.fitAddresses()
}

// disableShard makes statements that need a shard fail because of a document. It removes a shard that no statement needs. Otherwise that shard would
// prevent writes to global tables, because a shard gets their rows before it gets genes.
func (c *Cluster) disableShard(name router.ShardName, key string) {
	if key != ShardKey(name) {
		c.skipWith(ShardKey(name), key)
	}
	if c.isNeeded(name) {
		c.Shards[name] = Shard{Unreadable: c.reason(key)}
	} else {
		delete(c.Shards, name)
	}
}

// isNeeded reports whether a shard has rows, or is about to get some.
func (c *Cluster) isNeeded(name router.ShardName) bool {
	if name == c.Settings.DefaultShard || slices.Contains(c.Routes.Shards(), name) {
		return true
	}
	for _, m := range c.Routes.Moves() {
		if m.From == name || m.To == name {
			return true
		}
	}
	for _, d := range c.Tables {
		if d.Kind == catalog.Single && d.Shard == name {
			return true
		}
	}
	return false
}

// fitPrimaries marks the shards whose primary is unknown.
func (c *Cluster) fitPrimaries() {
	for _, name := range slices.Sorted(maps.Keys(c.Primaries)) {
		if s, there := c.Shards[name]; there && s.Unreadable != "" {
			continue // its document is kept unchanged
		}
		if p := c.primaryProblem(name); len(p) > 0 {
			c.skip(PrimaryKey(name), errors.Join(p...))
			delete(c.Primaries, name)
		}
	}
	for _, name := range c.ShardNames() {
		if _, skipped := c.Unreadable[PrimaryKey(name)]; skipped && c.Shards[name].HasServers() {
			c.disableShard(name, PrimaryKey(name))
		}
	}
}

// fitAddresses marks shards that share a server. If exactly one of them is needed, that one is used.
func (c *Cluster) fitAddresses() {
	at := map[string][]router.ShardName{}
	for _, name := range c.ShardNames() {
		for _, address := range c.Shards[name].addresses() {
			at[address] = append(at[address], name)
		}
	}
	for _, address := range slices.Sorted(maps.Keys(at)) {
		names := at[address]
		if len(names) < 2 {
			continue
		}
		needed := slices.DeleteFunc(slices.Compact(slices.Clone(names)), func(name router.ShardName) bool { return !c.isNeeded(name) })
		for _, name := range slices.Compact(names) {
			if len(needed) == 1 && needed[0] == name && names[0] != names[len(names)-1] {
				continue
			}
			c.skip(ShardKey(name), fmt.Errorf("the server %s is declared more than once: in %v", address, names))
			c.disableShard(name, ShardKey(name))
		}
	}
}

// addresses returns the addresses of all servers of a shard.
func (s Shard) addresses() (list []string) {
	if s.Address != "" {
		list = append(list, s.Address)
	}
	for _, r := range s.Replicas {
		list = append(list, r.Address)
	}
	return list
}

// fitGenerators removes generators that can't be used, and then those that take numbers from them.
func (c *Cluster) fitGenerators() {
	for found := true; found; {
		found = false
		for _, name := range c.GeneratorNames() {
			var p problems
			if c.checkGenerator(&p, name, c.Generators[name]); len(p) == 0 {
				continue
			}
			follows := slices.ContainsFunc(c.Generators[name].Of, func(of string) bool { return c.Unreadable[GeneratorKey(of)].Why != "" })
			c.record(GeneratorKey(name), Unreadable{Why: oneLine(errors.Join(p...)), Follows: follows})
			delete(c.Generators, name)
			found = true
		}
	}
}

// withUnreadable returns the cluster with the unreadable documents of the old one, unless it has its own. It omits documents whose objects c
// declares.
func (c *Cluster) withUnreadable(old *Cluster) *Cluster {
	if old == nil || c.Unreadable != nil || len(old.Unreadable) == 0 {
		return c
	}
	whole := *c
	whole.Unreadable, whole.Refused = maps.Clone(old.Unreadable), maps.Clone(old.Refused)
	delete(whole.Unreadable, SettingsKey)
	whole.Shards = maps.Clone(c.Shards)
	for name, s := range old.Shards {
		if _, declared := c.Shards[name]; !declared && s.Unreadable != "" {
			whole.Shards[name] = s
		} else if declared {
			delete(whole.Unreadable, ShardKey(name))
		}
	}
	for name := range c.Tables {
		delete(whole.Unreadable, TableKey(name))
		delete(whole.Refused, name)
	}
	for name := range c.Users {
		delete(whole.Unreadable, UserKey(name))
	}
	for name := range c.Generators {
		delete(whole.Unreadable, GeneratorKey(name))
	}
	if old.Unrouted != "" {
		whole.Unrouted = old.Unrouted
	}
	return &whole
}

// checkUnreadable refuses changes that depend on a document that can't be used.
func checkUnreadable(old, next *Cluster) error {
	if old.Unrouted != "" && (!slices.Equal(old.Routes.Entries(), next.Routes.Entries()) || len(RelocatedTables(old, next)) > 0 || addsShard(old, next)) {
		return fmt.Errorf("the route map can't be changed: %s", old.Unrouted)
	}
	var errs []error
	for name := range next.Tables {
		if why := next.Refused[name]; why != "" {
			errs = append(errs, fmt.Errorf("table %s can't be declared: %s", name, why))
		}
	}
	for name, s := range next.Shards {
		if u, skipped := old.Unreadable[PrimaryKey(name)]; skipped && s.Unreadable == "" && s.HasServers() {
			errs = append(errs, fmt.Errorf("shard %s: which of its servers is the primary is not known: %s%s: %s; locus doctor shows the remedy", name, Prefix, PrimaryKey(name), u.Why))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// ReadBack returns an error if the result of the write would not be decoded to the intended cluster. stored are the documents before the
// write. next is the cluster for which the write was planned. d must be new or have decoded the stored documents.
func (w Write) ReadBack(d *Decoder, stored map[string]Stored, next *Cluster) error {
	left := map[string][]byte{}
	for key, s := range stored {
		left[key] = s.Value
	}
	for key, text := range w.Puts {
		if key, declared := strings.CutPrefix(key, Prefix); declared {
			left[key] = text
		}
	}
	for _, key := range w.Deletes {
		delete(left, strings.TrimPrefix(key, Prefix))
	}
	again, err := d.Decode(left, nil)
	if err != nil {
		return fmt.Errorf("nothing was written, since it could not be read back: %w", err)
	}
	for _, key := range again.UnreadableKeys() {
		if _, known := next.Unreadable[key]; !known {
			return fmt.Errorf("nothing was written, since %s%s could not be read back: %s", Prefix, key, again.Unreadable[key].Why)
		}
	}
	written, read := w.documents, Encode(again)
	for _, key := range slices.Sorted(maps.Keys(written)) {
		if _, unreadable := again.Unreadable[key]; !unreadable && string(written[key]) != string(read[key]) {
			return fmt.Errorf("nothing was written, since %s%s would be read as something else: choose other names", Prefix, key)
		}
	}
	return nil
}
