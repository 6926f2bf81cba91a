package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"locus/config/etcd"
	"locus/control/declared"
	"locus/control/failover"
	"locus/control/finding"
	"locus/control/fleet"
	"locus/control/jobs"
	"locus/control/keyring"
	"locus/migrate/job"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// Document is a document in etcd that this build can't use.
type Document struct {
	// Key is relative to the cluster's prefix. Bytes that a shell or a terminal would not take as they are, and percent
	// signs, are written as %XX.
	Key string `json:"key"`
	Why string `json:"why"`
	// Remedy is the command to run, or says what to do.
	Remedy string `json:"remedy"`

	raw      string
	revision int64
	keeps    string // why it can't be removed; empty: it can
	after    string // the document that has to be helped first; empty: none
}

// readers maps the prefixes of documents to the functions by which their owners read them. The declarations are read as a
// whole. No reader exists for other keys, such as questions and requests: their owners replace them, or no process depends on
// all of them.
var readers = []struct {
	prefix string
	check  func(key string, value []byte) error
}{
	{cluster.HistoryPrefix, func(_ string, value []byte) error { _, _, err := router.Decode(value); return err }},
	{cluster.ProxyPrefix, fleet.CheckCard},
	{cluster.ProcessPrefix, fleet.CheckCard},
	{job.Prefix, jobs.Check},
	{job.ReportPrefix, jobs.Check},
	{job.DifferencesPrefix, func(_ string, value []byte) error { return json.Unmarshal(value, new(job.Differences)) }},
	{failover.RecordPrefix, func(_ string, value []byte) error { return failover.CheckRecord(value) }},
	{keyring.CurrentKey, func(_ string, value []byte) error { return keyring.CheckCurrent(value) }},
	{finding.AcknowledgedPrefix, finding.Check},
	{cluster.SegmentPrefix, func(_ string, value []byte) error { return checkJSON(value) }},
}

func checkJSON(value []byte) error {
	if !json.Valid(value) {
		return errors.New("it is not JSON")
	}
	return nil
}

// Documents finds all documents that this build can't use.
func Documents(ctx context.Context, kv *etcd.KV) ([]Document, error) {
	state, err := declared.Read(ctx, kv)
	if err != nil {
		return nil, err
	}
	var list []Document
	if c := state.Cluster; c != nil {
		for _, key := range c.UnreadableKeys() {
			u := c.Unreadable[key]
			d := Document{raw: cluster.Prefix + key, Why: u.Why, revision: state.Revision(key), keeps: keeps(c, key)}
			if kind, name, _ := strings.Cut(key, "/"); d.keeps != "" && (kind+"/" == cluster.CountersPrefix || kind+"/" == cluster.RenamingPrefix) && !c.Unreadable[cluster.TablePrefix+name].Follows {
				d.after = cluster.Prefix + cluster.TablePrefix + name
			}
			if d.remedy(ctx, kv); u.Follows {
				d.keeps, d.Remedy = "it is readable, but another document isn't", "see the document that it needs"
			}
			list = append(list, d)
		}
	}
	for _, r := range readers {
		pairs, _, err := kv.GetPrefix(ctx, r.prefix)
		if err != nil {
			return nil, err
		}
		for _, p := range pairs {
			why := r.check(p.Key, p.Value)
			if why == nil || r.prefix == cluster.SegmentPrefix && !counts(state.Cluster, p.Key) {
				continue
			}
			d := Document{raw: p.Key, Why: strings.ReplaceAll(why.Error(), "\n", "; "), revision: p.Revision}
			switch {
			case r.prefix == cluster.SegmentPrefix:
				d.keeps = "numbers that were issued would be issued again"
			case p.Key == keyring.CurrentKey:
				d.keeps = "the keys that hide new numbers would be unknown"
			case p.Leased:
				d.keeps = "a process that runs keeps it, perhaps one of a newer version"
			}
			d.remedy(ctx, kv)
			list = append(list, d)
		}
	}
	return list, nil
}

// counts reports whether a key counts numbers of a declared table or generator.
func counts(c *cluster.Cluster, key string) bool {
	if c == nil {
		return false
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(key, cluster.SegmentPrefix), "/")
	if _, is := c.Generators[name]; is {
		return true
	}
	return slices.ContainsFunc(c.TableNames(), func(t catalog.TableName) bool { return c.CountersOf(t).Key() == name })
}

// keeps returns why a declared document must not be removed, or "".
func keeps(c *cluster.Cluster, key string) string {
	kind, name, _ := strings.Cut(key, "/")
	switch kind + "/" {
	case cluster.SettingsKey + "/", cluster.MapKey + "/":
		return "no row could be found without it"
	case cluster.ShardPrefix:
		if _, needed := c.Shards[router.ShardName(name)]; needed {
			return "the shard has rows"
		}
	case cluster.PrimaryPrefix:
		if _, needed := c.Shards[router.ShardName(name)]; needed {
			return "the primary of the shard would be unknown"
		}
	case cluster.RenamingPrefix, cluster.CountersPrefix:
		if table, err := catalog.ParseTableKey(name); err == nil && c.Unreadable[cluster.TableKey(table)].Why != "" {
			return "table " + table.String() + " needs it: it would be looked for by names that not every shard has, or its numbers would begin again"
		}
	}
	return ""
}

// remedy sets the command that helps.
func (d *Document) remedy(ctx context.Context, kv *etcd.KV) {
	d.Key = escape(d.raw)
	restore, remove := "locus documents restore "+d.Key, "locus documents remove "+d.Key
	_, err := d.before(ctx, kv)
	kind, _, _ := strings.Cut(strings.TrimPrefix(d.raw, cluster.Prefix), "/")
	file := strings.HasPrefix(d.raw, cluster.Prefix) && slices.Contains([]string{cluster.SettingsKey, "shards", "tables", "users", "generators"}, kind)
	switch {
	case d.after != "":
		d.Remedy = "repair " + escape(d.after) + " first"
	case err == nil && d.keeps == "":
		d.Remedy = restore + ", which restores its last value; or " + remove
	case err == nil:
		d.Remedy = restore
	case d.keeps == "":
		d.Remedy = remove
	case file:
		d.Remedy = "locus apply -f cluster.yaml, with a file that declares it"
	default:
		d.Remedy = "etcdctl put, with its value from a backup: " + d.keeps
	}
}

// mostBefore bounds the number of earlier values that are examined.
const mostBefore = 32

// before returns the last earlier value that this build reads.
func (d *Document) before(ctx context.Context, kv *etcd.KV) (value []byte, err error) {
	at := d.revision
	for range mostBefore {
		if at <= 1 {
			break
		}
		if value, at, err = kv.GetAt(ctx, d.raw, at-1); err != nil {
			return nil, err
		}
		if at == 0 {
			break
		}
		if d.reads(value) == nil {
			return value, nil
		}
	}
	return nil, errors.New("etcd has no earlier value that can be read")
}

// reads returns why a value of the document can't be read.
func (d *Document) reads(value []byte) error {
	if key, is := strings.CutPrefix(d.raw, cluster.Prefix); is {
		return cluster.CheckDocument(key, value)
	}
	for _, r := range readers {
		if strings.HasPrefix(d.raw, r.prefix) {
			return r.check(d.raw, value)
		}
	}
	return nil
}

// escape writes a key with printable characters that no shell changes.
func escape(key string) string {
	var out strings.Builder
	for _, b := range []byte(key) {
		if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte("._/:@,+=-", b) >= 0 {
			out.WriteByte(b)
		} else {
			fmt.Fprintf(&out, "%%%02X", b)
		}
	}
	return out.String()
}

// find returns the document of a key as [Document.Key] has it.
func find(ctx context.Context, kv *etcd.KV, key string) (*Document, error) {
	raw, err := url.PathUnescape(key)
	if err != nil {
		return nil, fmt.Errorf("key %q: %w", key, err)
	}
	list, err := Documents(ctx, kv)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(list, func(d Document) bool { return d.raw == raw })
	if at < 0 {
		return nil, fmt.Errorf("%s is not one of the documents that can't be used: locus documents list shows them", key)
	}
	return &list[at], nil
}

// Remove removes a document that can't be used. With the record of a job it withdraws the job's genes from the route map:
// they stay where they are.
func Remove(ctx context.Context, kv *etcd.KV, key, by string, now time.Time) error {
	d, err := find(ctx, kv, key)
	if err != nil {
		return err
	}
	if d.keeps != "" {
		return fmt.Errorf("%s can't be removed, since %s: %s", d.Key, d.keeps, d.Remedy)
	}
	guards, writes := []etcd.Guard{{Key: d.raw, Revision: d.revision}}, []etcd.Write{etcd.Delete(d.raw)}
	if id, is := strings.CutPrefix(d.raw, job.Prefix); is {
		guard, write, err := declared.Withdrawn(ctx, kv, id, router.Stamp{By: by, Why: "the record of job " + id + " was removed", At: now})
		if err != nil {
			return err
		}
		guards, writes = append(guards, guard...), append(writes, write...)
	}
	_, err = kv.Commit(ctx, guards, writes...)
	return err
}

// Restore brings back the last value of a document that this build reads.
func Restore(ctx context.Context, kv *etcd.KV, key string) error {
	d, err := find(ctx, kv, key)
	if err != nil {
		return err
	}
	value, err := d.before(ctx, kv)
	if err != nil {
		return fmt.Errorf("%s: %w", d.Key, err)
	}
	_, err = kv.Commit(ctx, []etcd.Guard{{Key: d.raw, Revision: d.revision}}, etcd.Put(d.raw, value))
	return err
}

// documents reports the documents that can't be used.
func (e *examination) documents(ctx context.Context) {
	list, err := Documents(ctx, e.KV)
	if err != nil {
		e.find(finding.AtRisk, "documents", "etcd", "see etcd's log", "the documents can't be read: %v", err)
		return
	}
	for _, d := range list {
		severity := finding.AtRisk
		if strings.HasPrefix(d.raw, cluster.Prefix) { // statements need it
			severity = finding.Outage
		}
		e.find(severity, "documents", d.Key, d.Remedy, "it can't be used, and what needs it is refused: %s", d.Why)
	}
}

// RemoveTable removes the declaration of a table if it can't be used. The table is named as in other commands, or as its key
// has it. It reports whether there was such a declaration.
func RemoveTable(ctx context.Context, kv *etcd.KV, c *cluster.Cluster, table, by string, now time.Time) (bool, error) {
	if !UnreadableTable(c, table) {
		return false, nil
	}
	return true, Remove(ctx, kv, escape(cluster.Prefix+keyOfTable(table)), by, now)
}

// UnreadableTable reports whether the declaration of a table can't be used. The table is named as for RemoveTable.
func UnreadableTable(c *cluster.Cluster, table string) bool {
	_, is := c.Unreadable[keyOfTable(table)]
	return is
}

func keyOfTable(table string) string {
	if name, err := catalog.ParseTableName(table); err == nil {
		return cluster.TableKey(name)
	}
	return cluster.TablePrefix + table
}
