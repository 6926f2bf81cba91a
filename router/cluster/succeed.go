package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"locus/idgen/format"
	"locus/idgen/row"
	"locus/router"
	"locus/router/catalog"
)

// Succeed returns next as the successor of old, which may be nil. It reports all changes together that are impossible in a cluster with rows.
//
// The route map keeps old's version and stamp if all rows stay in their places. Otherwise it has the next version and this stamp. Three
// changes have this effect: genes get another owner, rows of a table are placed in another way, or a shard is added while there are global
// tables. After the last two, the map's entries are the same. The new version shows when no proxy obeys the old declaration any more: proxies
// report the version that they obey. If next has no routes, it gets old's.
func Succeed(old, next *Cluster, stamp router.Stamp) (*Cluster, error) {
	next, err := next.withUnreadable(old).withRoutesOf(old)
	if err != nil {
		return nil, err
	}
	next = next.withNamesOf(old).withLookupsOf(old)
	after := *next
	after.Stamp = stamp
	if err := after.keepPrimaries(old); err != nil {
		return nil, err
	}
	if err := checkUsable(old, next, stamp.At); err != nil {
		return nil, err
	}
	if old == nil {
		return &after, nil
	}
	if err := checkSettings(old.Settings, next.Settings); err != nil {
		return nil, err
	}
	if err := errors.Join(checkUnreadable(old, next), checkGenerators(old, next), checkHiding(old, next), checkImporting(old, next), checkMoving(old, next), checkRenaming(old, next)); err != nil {
		return nil, err
	}
	handovers, err := router.Diff(old.Routes, next.Routes)
	if err != nil {
		return nil, err
	}
	switch {
	case len(handovers) > 0:
	case len(RelocatedTables(old, next)) > 0, addsShard(old, next):
		after.Routes = old.Routes.Renewed()
		return &after, nil
	default:
		after.Routes, after.Stamp = old.Routes, old.Stamp
		return &after, nil
	}
	changes := make([]router.Change, len(handovers))
	for i, h := range handovers {
		changes[i] = router.Change{Genes: h.Genes, To: h.To}
	}
	after.Routes, err = old.Routes.With(changes...)
	return &after, err
}

// addsShard reports whether a shard is added while there are global tables. They are written to it from then on.
func addsShard(old, next *Cluster) bool {
	global := false
	for _, d := range next.Tables {
		global = global || d.Kind == catalog.Global
	}
	for name := range next.Shards {
		if _, was := old.Shards[name]; !was && global {
			return true
		}
	}
	return false
}

// RelocatedTables returns the tables whose rows may be in other places than before, for other reasons than a gene's new owner. These are tables
// that are declared for the first time, in another way, or no longer. They are sorted by name.
func RelocatedTables(old, next *Cluster) []catalog.TableName {
	var names []catalog.TableName
	for name, after := range next.Tables {
		if before, was := old.Tables[name]; !was || !reflect.DeepEqual(placement(before), placement(after)) {
			names = append(names, name)
		}
	}
	for name := range old.Tables {
		if _, stays := next.Tables[name]; !stays {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, catalog.TableName.Compare)
	return names
}

// placement returns the part of a declaration that defines where rows are.
func placement(d catalog.Declaration) catalog.Declaration {
	d.Version, d.OrderNumber, d.Lookup = "", "", nil
	if d.ID != nil {
		id := *d.ID
		id.Hidden, d.ID = false, &id
	}
	return d
}

// withRoutesOf returns the cluster with the routes of the old one, if it has none of its own.
func (c *Cluster) withRoutesOf(old *Cluster) (*Cluster, error) {
	switch w := c.Settings.GeneBits; {
	case c.Routes != nil:
		return c, nil
	case old == nil:
		return nil, errors.New("routes: missing: a cluster's first file gives every gene a shard, for a cluster of one shard: " + w.Last().Format(w) + " s0")
	}
	whole := *c
	whole.Routes = old.Routes
	return &whole, whole.Validate()
}

// checkGenerators refuses changes after which a generator could repeat numbers that it has already made.
func checkGenerators(old, next *Cluster) error {
	var errs []error
	for name, was := range old.Generators {
		is, stays := next.Generators[name]
		if !stays {
			continue
		}
		if was.Kind != is.Kind || was.Bits != is.Bits || !slices.Equal(was.Of, is.Of) || !slices.Equal(was.Shards, is.Shards) {
			errs = append(errs, fmt.Errorf("generators: kind, bits, of and shards of %s can't change, since its numbers could be equal to earlier ones: declare one of another name", name))
		}
		if was.Kind == SnowflakeGenerator && is.Kind == SnowflakeGenerator && !was.Since().Equal(is.Since()) {
			errs = append(errs, fmt.Errorf("generators: the epoch of %s is %s and can't become %s, since its numbers could be equal to earlier ones: declare one of another name",
				name, was.Since().Format(time.RFC3339Nano), is.Since().Format(time.RFC3339Nano)))
		}
		if was.Kind == is.Kind && otherRow(was, is) {
			errs = append(errs, fmt.Errorf("generators: tables of %s, the row of kind row, and holds, can't change, since its numbers could be equal to earlier ones: declare one of another name", name))
		}
		if was.EveryTag() != is.EveryTag() {
			errs = append(errs, fmt.Errorf("generators: every_tag of %s can't change, since its numbers could be equal to earlier ones: declare one of another name", name))
		}
		if was.Per != is.Per {
			errs = append(errs, fmt.Errorf("generators: per of %s is %q and can't become %q, since its numbers could be equal to earlier ones: declare one of another name", name, was.Per, is.Per))
		}
		if was.Kind == FormatGenerator && is.Kind == FormatGenerator && repeats(was.Template, is.Template) {
			errs = append(errs, fmt.Errorf("generators: the template of %s is %s and can't become %s, since its texts could be equal to earlier ones: "+
				"the sequence stays in its place, and so do per, zone and hidden; declare one of another name", name, was.Template, is.Template))
		}
	}
	return errors.Join(errs...)
}

// otherRow reports whether a generator would use other tables than before although etcd has no record of the numbers that
// these have granted, or would reverse the meaning of the number in a row.
func otherRow(was, is Generator) bool {
	if !slices.Equal(was.Tables, is.Tables) {
		return true
	}
	if was.Store == nil || is.Store == nil || was.Store.MySQL == nil || is.Store.MySQL == nil {
		return was.Kind == RowGenerator && (was.Store != nil || is.Store != nil)
	}
	before, after := *was.Store.MySQL, *is.Store.MySQL
	if before.Holds != after.Holds && before.Holds != row.HoldsEither && after.Holds != row.HoldsEither {
		return true
	}
	before.Holds = after.Holds
	return was.Kind == RowGenerator && before != after
}

// repeats reports whether texts of a template could be equal to texts of the template before it.
func repeats(before, after string) bool {
	was, err := format.Parse(before, format.Parts())
	if err != nil {
		return false // an invalid template has generated no text
	}
	is, err := format.Parse(after, format.Parts())
	return err == nil && !is.Follows(was) // Validate refuses others
}

// checkImporting refuses to change the placement of tables that are being imported.
func checkImporting(old, next *Cluster) error {
	var errs []error
	for _, text := range old.Routes.Importing() {
		name, err := catalog.ParseTableName(text)
		if err == nil && !reflect.DeepEqual(placement(old.Tables[name]), placement(next.Tables[name])) {
			err = fmt.Errorf("table %s is being imported, and is %q until that ends: leave its declaration as locus get prints it, or finish or abort the job; locus jobs shows it",
				name, old.Tables[name].Words())
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// checkMoving refuses to change which tables are sharded, and their placement, while genes are moving. A job moves the rows of the tables that
// were sharded when it began, and would not move those of others.
func checkMoving(old, next *Cluster) error {
	moves := old.Routes.Moves()
	if len(moves) == 0 || moves[0].Tables != nil {
		return nil
	}
	var errs []error
	for _, name := range RelocatedTables(old, next) {
		if old.Tables[name].Kind == catalog.Sharded || next.Tables[name].Kind == catalog.Sharded {
			errs = append(errs, fmt.Errorf("table %s: job %s moves genes, and knows of the tables that were sharded when it began: declare it once the job is over, or abort the job; locus jobs shows it",
				name, moves[0].ID()))
		}
	}
	return errors.Join(errs...)
}

// checkHiding refuses to change between hidden IDs and order numbers under one key version. An issuer of IDs refuses it too, so every INSERT
// would fail.
func checkHiding(old, next *Cluster) error {
	var errs []error
	for _, name := range next.TableNames() {
		was, is := old.Tables[name].Hiding(), next.Tables[name].Hiding()
		if was != is && was != catalog.InClear && is != catalog.InClear {
			errs = append(errs, fmt.Errorf("table %s: hidden IDs and IDs beside an order_number can't have one key version: "+
				"apply it without either, rotate the key ring (locus keys rotate), and then declare the other", name))
		}
	}
	return errors.Join(errs...)
}

func checkSettings(old, next Settings) error {
	var errs []error
	fixed := func(field string, was, is any, why string) {
		if was != is {
			errs = append(errs, fmt.Errorf("settings: %s is %v and can't become %v: %s", field, was, is, why))
		}
	}
	fixed("gene_bits", old.GeneBits, next.GeneBits, "every stored row is where its gene of so many bits is")
	fixed("hash", old.Hash, next.Hash, "every stored row is where its gene by that hash is")
	return errors.Join(errs...)
}

// Stored is a document with the revision that last changed it.
type Stored struct {
	Value    []byte
	Revision int64
}

// Write is the change from the stored documents to the documents of another cluster. It must be written in one transaction, if
// every guard is true. Keys are relative to the cluster's prefix.
type Write struct {
	Guards  map[string]int64 // by key, the revision that was read; 0: the key did not exist
	Puts    map[string][]byte
	Deletes []string

	documents map[string][]byte // documents of the cluster for which it was planned
}

// PlanWrite returns the write that changes the stored documents to the documents of next, which is a result of [Succeed]. Keys
// of stored are relative to [Prefix]. A new version of the map is also added to the history. Settings are always rewritten, so
// of two writes that were planned on the same state only one takes effect, whatever else they change. There are as many
// guards, and as many writes, as documents that change, and a few more.
func PlanWrite(stored map[string]Stored, next *Cluster) Write {
	documents := Encode(next)
	w := Write{Guards: map[string]int64{}, Puts: map[string][]byte{}, documents: documents}
	for key, text := range documents {
		before, there := stored[key]
		if there && bytes.Equal(before.Value, text) && key != SettingsKey {
			continue
		}
		w.Guards[Prefix+key], w.Puts[Prefix+key] = before.Revision, text
	}
	for key, before := range stored {
		if _, stays := documents[key]; !stays && !next.isKept(key) {
			w.Guards[Prefix+key] = before.Revision
			w.Deletes = append(w.Deletes, Prefix+key)
		}
	}
	if before := stored[SettingsKey]; documents[SettingsKey] == nil {
		w.Guards[Prefix+SettingsKey] = before.Revision
		if before.Revision > 0 {
			w.Puts[Prefix+SettingsKey] = before.Value
		}
	}
	w.Guards[Prefix+MapKey] = stored[MapKey].Revision // all checks were made against this map
	if text, changed := w.Puts[Prefix+MapKey]; changed {
		key := HistoryKey(next.Routes.Version())
		w.Guards[key], w.Puts[key] = 0, text
	}
	slices.Sort(w.Deletes)
	return w
}

// isKept reports whether a change keeps a stored document although the cluster doesn't contain it.
func (c *Cluster) isKept(key string) bool {
	_, skipped := c.Unreadable[key]
	return skipped || key == SettingsKey || key == MapKey
}
