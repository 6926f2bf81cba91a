package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"time"

	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/handshake"
	"locus/proxy/schema"
	"locus/proxy/snapshot"
	"locus/proxy/sysvars"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
	"locus/router/plan"
)

// plansKept is the capacity of the plan cache.
const plansKept = 8192

// state is the cluster's state in force. It contains the snapshot that sessions use, and what logins need.
type state struct {
	snapshot snapshot.Snapshot
	declared *cluster.Cluster
	accounts *handshake.Directory
	// lockedOut maps users whose secret can't be read to the errors.
	lockedOut map[string]string
	server    server
	problems  error         // declared tables that can't be served
	found     *schema.Found // the listings and tables from which the snapshot's catalog was built
	tls       map[router.ShardName]*tls.Config
	asked     uint64 // the last request that this state answers
}

// settleTimeout is the longest time from a declaration until the shards have the table or the declaration is withdrawn.
const settleTimeout = 15 * time.Second

// settling returns the tables that are declared and not on the shards yet, each with the time at which [settleTimeout] ends. A
// table that was declared before the proxy started is not among them. It omits tables that stay in such a state for longer. A
// rename waits until every statement has ended, so no statement may wait for a rename. The rows of an import can be on an outside
// server for weeks.
func (b *builder) settling(w *state, now time.Time) map[catalog.TableName]time.Time {
	if b.last == nil {
		return nil
	}
	var until map[catalog.TableName]time.Time
	for name, err := range w.snapshot.Catalog.Broken() {
		if w.declared.Tables[name].Kind == catalog.Outside || errors.As(err, new(*catalog.RenamingError)) {
			continue
		}
		end, is := b.last.snapshot.Settling[name]
		if _, before := b.last.declared.Tables[name]; !is && before {
			continue
		}
		if !is {
			end = now.Add(settleTimeout)
		}
		if until == nil {
			until = map[catalog.TableName]time.Time{}
		}
		until[name] = end
	}
	return until
}

// server contains the facts about the server that clients get at login. They are those of the first shard's server.
type server struct {
	charsets map[uint16]charset
	version  string
	// collation is the number of the server's default collation, which the greeting contains.
	collation byte
}

// builder builds states. Only the goroutine of [live.Live] uses it.
type builder struct {
	secrets func(string) (string, error)
	mark    string // identifies this process's connections to shards
	pools   *backend.Registry
	// recovery contains pools of the same shards with connections of its own; nil if it is not needed.
	recovery *backend.Registry
	// follow is called with the moves in progress.
	follow func([]router.Move)
	// doubt requests another check of a shard. It is set together with recovery.
	doubt func(router.ShardName)
	log   *slog.Logger
	// documents parses the declared documents.
	documents cluster.Decoder
	last      *state
	// leases reports whether the proxy continuously confirms the primaries with etcd.
	leases bool
	// found is the result of the last read of the shards that answered.
	found    *schema.Found
	requests requests
	// rightsKnown is the last ID that was assigned to rights.
	rightsKnown uint64
}

// build builds the state of the declared documents. A change of the route map alone keeps the catalog and every plan.
func (b *builder) build(ctx context.Context, values map[string][]byte, _ int64) (*state, error) {
	var before *cluster.Cluster
	if b.last != nil {
		before = b.last.declared
	}
	declared, err := b.documents.Decode(values, before)
	if err != nil {
		return nil, err
	}
	b.reportUnreadable(declared, before)
	w := &state{declared: declared, tls: map[router.ShardName]*tls.Config{}}
	if w.accounts, w.lockedOut, err = b.logins(declared); err != nil {
		return nil, err
	}
	if err := b.register(w); err != nil {
		return nil, err
	}
	same := b.sameTables(declared)
	if same && (declared.Holds() || b.requests.empty()) { // held shards can't be queried
		w.snapshot = b.last.snapshot
		w.server, w.problems = b.last.server, b.last.problems
	} else if same || !b.useFound(w) { // the declarations are the same, so the shards have changed
		if err := b.read(ctx, w); err != nil {
			return nil, err
		}
	}
	w.asked = b.requests.answered()
	w.found = b.found
	w.snapshot.Map, w.snapshot.Accounts = declared.Routes, b.users(declared)
	w.snapshot.Declared, w.snapshot.Copies = declared, copies(w.snapshot.Catalog.First(), declared.Routes)
	w.snapshot.Settling = b.settling(w, time.Now())
	b.follow(declared.Routes.Moves())
	first := b.last == nil
	b.last = w
	if first && (declared.Holds() || b.leases && declared.Leases()) {
		return w, b.register(w)
	}
	return w, nil
}

// reportUnreadable logs the documents that can't be used, once each.
func (b *builder) reportUnreadable(declared, before *cluster.Cluster) {
	for _, key := range declared.UnreadableKeys() {
		if u := declared.Unreadable[key]; before == nil || before.Unreadable[key] != u {
			b.log.Error("document in etcd can't be used", "key", cluster.Prefix+key, "error", u.Why)
		}
	}
}

// copies returns the first shard and the shards that have genes. The global tables of the latter are compared with those of the
// first. A new shard may have no global rows yet.
func copies(first router.ShardName, m *router.Map) []router.ShardName {
	list := []router.ShardName{first}
	for _, i := range m.ShardsOf(0, m.Width().Last(), nil) {
		if shard := m.Shard(i); shard != first {
			list = append(list, shard)
		}
	}
	return list
}

// sameTables reports whether nothing is declared differently that the tables on the shards must fit.
func (b *builder) sameTables(c *cluster.Cluster) bool {
	if b.last != nil && b.last.declared == c {
		return true
	}
	return b.last != nil &&
		b.last.declared.Settings == c.Settings &&
		maps.EqualFunc(b.last.declared.Shards, c.Shards, sameShard) &&
		reflect.DeepEqual(b.last.declared.Tables, c.Tables) &&
		maps.Equal(b.last.declared.Refused, c.Refused) &&
		maps.Equal(b.last.declared.Renaming, c.Renaming) && maps.Equal(b.last.declared.Counters, c.Counters) &&
		reflect.DeepEqual(b.last.declared.Generators, c.Generators) // columns must fit the values that they generate
}

// sameShard reports whether two declarations of a shard differ in nothing but the primary. Another primary has the same tables.
func sameShard(a, b cluster.Shard) bool { return reflect.DeepEqual(a.Declared(), b.Declared()) }

// register creates the pools of the declared shards.
func (b *builder) register(w *state) error {
	var targets []backend.Target
	for _, name := range w.declared.ShardNames() {
		t, err := b.target(name, w.declared.Shards[name])
		if err != nil {
			return err
		}
		w.tls[name] = t.TLS
		if primary := w.declared.Primaries[name]; b.last != nil { // the first state is read before anything is held
			t.Held, t.Cut = primary.Held, primary.Held && primary.Cause != cluster.Ordered
			if b.leases && w.declared.Shards[name].Leased() {
				t.Epoch, t.StaleReads = primary.Epoch, w.declared.Shards[name].StaleReads
			}
		}
		targets = append(targets, t)
	}
	b.pools.Apply(targets)
	if b.recovery != nil {
		b.recovery.Apply(withoutReplicas(targets))
		b.recheck(w.declared)
	}
	return nil
}

// recheck requests a check of the shards whose declarations have changed.
func (b *builder) recheck(c *cluster.Cluster) {
	for name, s := range c.Shards {
		if b.last != nil && !reflect.DeepEqual(b.last.declared.Shards[name], s) {
			b.doubt(name)
		}
	}
}

// withoutReplicas returns the targets of the primaries alone.
func withoutReplicas(targets []backend.Target) []backend.Target {
	primaries := slices.Clone(targets)
	for i := range primaries {
		primaries[i].Replicas, primaries[i].MaxOpen, primaries[i].StaleReads = nil, 0, false
	}
	return primaries
}

// target returns how to reach a shard. A shard that hasn't changed keeps its TLS settings, and with them its connections.
func (b *builder) target(name router.ShardName, s cluster.Shard) (backend.Target, error) {
	t, err := schema.Target(name, s, b.secrets)
	t.Mark = b.mark
	if err == nil && b.last != nil && sameShard(b.last.declared.Shards[name], s) {
		t.TLS = b.last.tls[name]
	}
	return t, err
}

// read reads the parts of the shards' schemas that can have changed. If that fails, the next call reads everything.
func (b *builder) read(ctx context.Context, w *state) (err error) {
	number, requested := b.requests.take()
	defer func() {
		if err != nil {
			b.requests.giveBack(catalog.Anything)
			return
		}
		b.requests.tablesRead(number)
	}()
	var before *catalog.Catalog
	if b.last != nil {
		before = b.last.snapshot.Catalog
	}
	change := b.changed(w.declared, requested)
	found, first, err := b.settledTables(ctx, w.declared, before, change)
	if err != nil {
		return err
	}
	b.found = found
	loaded := found.Load()
	if loaded.Unseen != nil {
		return fmt.Errorf("the proxy's account can't see all that the shards have: %w", loaded.Unseen)
	}
	w.problems = loaded.Problems()
	switch {
	case w.problems == nil:
	case b.justDeclared(w.declared, loaded.Catalog.Broken()):
		b.log.Info("declared tables that the shards have not made yet", "error", w.problems)
	default:
		b.log.Error("declared tables that can't be served", "error", w.problems)
	}
	for _, warning := range loaded.Warnings {
		b.log.Warn("declared table", "warning", warning)
	}
	if b.last != nil && b.sameTables(w.declared) {
		w.snapshot = b.last.snapshot
	}
	if w.snapshot.Catalog == nil || !b.last.has(found) {
		w.snapshot.Catalog = loaded.Catalog
		w.snapshot.Plans, w.snapshot.Sets = plan.NewCache(plansKept), new(sysvars.SetWarnings)
	}
	if !change.Everything {
		w.server, w.snapshot.Flavor, w.snapshot.Mode = b.last.server, b.last.snapshot.Flavor, b.last.snapshot.Mode
		w.snapshot.Charset, w.snapshot.Collation = b.last.snapshot.Charset, b.last.snapshot.Collation
		return nil
	}
	if err := b.server(ctx, w, first); err != nil {
		return err
	}
	w.snapshot.Mode, err = b.mode(ctx, w.declared.ShardNames())
	return err
}

// justDeclared reports whether all tables that can't be served are missing on the shards and were not declared in the last state. A CREATE
// TABLE declares its table before the shards make it.
func (b *builder) justDeclared(declared *cluster.Cluster, broken map[catalog.TableName]error) bool {
	for name, err := range broken {
		if declared.Tables[name].Kind == catalog.Outside {
			continue
		}
		if b.last == nil || !errors.As(err, new(*catalog.MissingTableError)) {
			return false
		}
		if _, before := b.last.declared.Tables[name]; before {
			return false
		}
	}
	return true
}

// changed returns the change to read: the requested changes, and the declarations that differ from the last state. It is never
// empty, because read is called only if something differs.
func (b *builder) changed(declared *cluster.Cluster, requested catalog.Change) catalog.Change {
	if b.last == nil {
		return catalog.Anything
	}
	change := requested.And(redeclared(b.last.declared, declared))
	if change.Empty() { // the difference is in no table, such as a document that can't be read
		return catalog.Anything
	}
	return change
}

// redeclared returns the tables that two clusters declare differently. They may have been made or altered on the shards by
// another process than a proxy. Where more than tables differs, everything may have changed.
func redeclared(before, now *cluster.Cluster) (c catalog.Change) {
	if before.Settings != now.Settings || !maps.EqualFunc(before.Shards, now.Shards, sameShard) || !reflect.DeepEqual(before.Generators, now.Generators) {
		return catalog.Anything
	}
	imported := slices.Concat(before.Routes.Importing(), now.Routes.Importing())
	for name := range tablesOfBoth(before, now) {
		_, renames := now.Renaming[name]
		_, renamed := before.Renaming[name]
		d, declared := before.Tables[name]
		next, still := now.Tables[name]
		if declared != still || !reflect.DeepEqual(d, next) || renames || renamed || slices.Contains(imported, name.String()) {
			c = c.And(catalog.Change{Tables: []catalog.TableName{name}})
		}
	}
	return c
}

func tablesOfBoth(before, now *cluster.Cluster) map[catalog.TableName]bool {
	names := map[catalog.TableName]bool{}
	for _, c := range []*cluster.Cluster{before, now} {
		for name := range c.Tables {
			names[name] = true
		}
	}
	return names
}

// mysqlDefault is MySQL's collation of utf8mb4.
const mysqlDefault = "utf8mb4_0900_ai_ci"

// server reads a server's version and character sets.
func (b *builder) server(ctx context.Context, w *state, q schema.Querier) error {
	rows, err := q.Query(ctx, "SELECT VERSION(), @@GLOBAL.collation_server, @@GLOBAL.character_set_client, @@GLOBAL.collation_connection")
	if err != nil || len(rows) != 1 {
		return errors.Join(errors.New("read the server's version"), err)
	}
	w.server.version = string(rows[0][0])
	w.snapshot.Flavor = flavor.Of(w.server.version)
	if w.server.charsets, err = readCharsets(ctx, q); err != nil {
		return err
	}
	if sysvars.Readable(string(rows[0][2])) {
		w.snapshot.Charset, w.snapshot.Collation = string(rows[0][2]), string(rows[0][3])
	}
	if w.snapshot.Charset == "utf8mb4" && w.snapshot.Collation == mysqlDefault {
		w.snapshot.Collation = "" // the default, as in sessions that name no collation
	}
	for id, set := range w.server.charsets {
		if set.collation == string(rows[0][1]) && sysvars.Readable(set.charset) {
			w.server.collation = byte(id)
		}
	}
	return nil
}
