package failover

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"locus/config/etcd"
	"locus/router"
)

// Record is what the process that watches a shard's servers tells others, and itself after a restart.
type Record struct {
	Epoch   int64  `json:"epoch"` // of the document of then
	Primary string `json:"primary"`
	// Had is what the primary had when it was last seen to take writes.
	Had string `json:"had,omitempty"`
	// Identity is the primary's, as replicas know whom they follow.
	Identity string `json:"identity,omitempty"`
	// Copies is how many replicas it waited for then before it acknowledged anything; 0: for none that is sure.
	Copies int `json:"copies,omitempty"`
	// Followers are the servers that may have acknowledged to it.
	Followers []string `json:"followers,omitempty"`
	// MayLose is why what it acknowledges may be lost with it; empty: it is not.
	MayLose string `json:"may_lose,omitempty"`
	// Waits is since when the primary's commits wait for replicas of which too few acknowledge; zero: they don't.
	Waits time.Time `json:"waits,omitzero"`
	// Unready is why a server could not be promoted, by their addresses.
	Unready map[string]string `json:"unready,omitempty"`
	// Errant are transactions that a server has, and the primary never had.
	Errant map[string]string `json:"errant,omitempty"`
	// Trouble is why the shard is left as it is, and Remedy what to do; empty: all is well.
	Trouble string    `json:"trouble,omitempty"`
	Remedy  string    `json:"remedy,omitempty"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
}

// same tells whether two records say the same but for what changes with each write.
func (r Record) same(o Record) bool {
	return r.Epoch == o.Epoch && r.Primary == o.Primary && r.Identity == o.Identity && r.Copies == o.Copies && slices.Equal(r.Followers, o.Followers) &&
		(r.Trouble == "") == (o.Trouble == "") && r.MayLose == o.MayLose && r.Waits.Equal(o.Waits) && maps.Equal(r.Errant, o.Errant) && len(r.Unready) == len(o.Unready)
}

// changed tells whether anything of one is not as in the other.
func (r Record) changed(o Record) bool {
	return !r.same(o) || r.Had != o.Had || r.Trouble != o.Trouble || !maps.Equal(r.Unready, o.Unready)
}

// clone is one that later changes leave as it is.
func (r Record) clone() Record {
	r.Followers, r.Unready, r.Errant = slices.Clone(r.Followers), maps.Clone(r.Unready), maps.Clone(r.Errant)
	return r
}

const (
	// RecordPrefix begins the keys of the records.
	RecordPrefix = "failover/records/"
	watchPrefix  = "failover/watches/" // the lease of who watches a shard
)

// Records reads those of all shards, without those that can't be read.
func Records(ctx context.Context, kv *etcd.KV) (map[router.ShardName]Record, error) {
	pairs, _, err := kv.GetPrefix(ctx, RecordPrefix)
	if err != nil {
		return nil, err
	}
	records := make(map[router.ShardName]Record, len(pairs))
	for _, pair := range pairs {
		r, err := decode(pair.Value)
		if err != nil {
			continue
		}
		records[router.ShardName(strings.TrimPrefix(pair.Key, RecordPrefix))] = r
	}
	return records, nil
}

func (r Record) write(ctx context.Context, kv *etcd.KV, shard router.ShardName) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = kv.Commit(ctx, nil, etcd.Put(RecordPrefix+string(shard), text))
	return err
}

func decode(text []byte) (r Record, err error) {
	if err = json.Unmarshal(text, &r); err != nil {
		r = Record{}
	}
	return r, err
}

// CheckRecord returns why a value is no record.
func CheckRecord(value []byte) error {
	_, err := decode(value)
	return err
}

// read is the record of a shard. It is empty if there is none, or none that can be read: then nothing is known of what the
// primary had, and no server is promoted before a primary was seen again.
func read(ctx context.Context, kv *etcd.KV, shard router.ShardName) (r Record, err error) {
	text, revision, err := kv.Get(ctx, RecordPrefix+string(shard))
	if err == nil && revision > 0 {
		r, _ = decode(text)
	}
	return r, err
}
