package failover

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"locus/config/etcd"
	"locus/control/events"
	"locus/router"
)

// Record is the state of a watched shard. The watching process publishes it in etcd, for other processes and
// for itself after a restart.
type Record struct {
	Epoch   int64  `json:"epoch"` // epoch of the shard's document when the record was made
	Primary string `json:"primary"`
	// Had is the GTID set of the primary at the last poll at which it took writes.
	Had string `json:"had,omitempty"`
	// Identity is the server ID of the primary, by which replicas identify their source.
	Identity string `json:"identity,omitempty"`
	// Copies is the number of replicas that the primary waited for before it acknowledged a transaction; 0 if
	// that is not guaranteed.
	Copies int `json:"copies,omitempty"`
	// Followers lists the servers that may have acknowledged transactions to the primary.
	Followers []string `json:"followers,omitempty"`
	// MayLose is the reason why transactions that the primary acknowledges may be lost with it; empty if they
	// can't be.
	MayLose string `json:"may_lose,omitempty"`
	// Waits is the time since which the primary's commits wait because too few replicas acknowledge; zero if
	// they don't wait.
	Waits time.Time `json:"waits,omitzero"`
	// Unready holds, by address, the reasons why servers could not be promoted.
	Unready map[string]string `json:"unready,omitempty"`
	// Errant holds, by address, the transactions that a server has and the primary never had.
	Errant map[string]string `json:"errant,omitempty"`
	// Trouble is the problem that is left to an operator, and Remedy the fix; both are empty if all servers are
	// healthy.
	Trouble string    `json:"trouble,omitempty"`
	Remedy  string    `json:"remedy,omitempty"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
}

// same compares two records, ignoring the fields that change with every write on the primary.
func (r Record) same(o Record) bool {
	return r.Epoch == o.Epoch && r.Primary == o.Primary && r.Identity == o.Identity && r.Copies == o.Copies && slices.Equal(r.Followers, o.Followers) &&
		(r.Trouble == "") == (o.Trouble == "") && r.MayLose == o.MayLose && r.Waits.Equal(o.Waits) && maps.Equal(r.Errant, o.Errant) && len(r.Unready) == len(o.Unready)
}

// changed reports whether any field differs.
func (r Record) changed(o Record) bool {
	return !r.same(o) || r.Had != o.Had || r.Trouble != o.Trouble || !maps.Equal(r.Unready, o.Unready)
}

// clone returns a copy that shares nothing with r.
func (r Record) clone() Record {
	r.Followers, r.Unready, r.Errant = slices.Clone(r.Followers), maps.Clone(r.Unready), maps.Clone(r.Errant)
	return r
}

const (
	// RecordPrefix begins the keys of the records.
	RecordPrefix = "failover/records/"
	watchPrefix  = "failover/watches/" // the leases of the processes that watch a shard
)

// Records reads the records of all shards and skips those that can't be decoded.
func Records(ctx context.Context, kv *etcd.KV) (map[router.ShardName]Record, error) {
	pairs, _, err := kv.GetPrefix(ctx, RecordPrefix)
	if err != nil {
		return nil, err
	}
	return DecodeRecords(pairs), nil
}

// DecodeRecords returns the records in documents of etcd, without those that can't be read.
func DecodeRecords(pairs []etcd.KeyValue) map[router.ShardName]Record {
	records := make(map[router.ShardName]Record, len(pairs))
	for _, pair := range pairs {
		if r, err := decode(pair.Value); err == nil {
			records[router.ShardName(strings.TrimPrefix(pair.Key, RecordPrefix))] = r
		}
	}
	return records
}

func (r Record) write(ctx context.Context, kv *etcd.KV, shard router.ShardName, list ...events.Event) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	writes, _ := events.Add([]etcd.Write{etcd.Put(RecordPrefix+string(shard), text)}, list...)
	_, err = kv.Commit(ctx, nil, writes...)
	return err
}

func decode(text []byte) (r Record, err error) {
	if err = json.Unmarshal(text, &r); err != nil {
		r = Record{}
	}
	return r, err
}

// CheckRecord returns an error if a value can't be decoded as a record.
func CheckRecord(value []byte) error {
	_, err := decode(value)
	return err
}

// read returns the record of a shard. The record is empty if there is none, or if it can't be decoded. In that
// case the primary's transactions are unknown, and no server is promoted until a poll has reached a primary.
func read(ctx context.Context, kv *etcd.KV, shard router.ShardName) (r Record, err error) {
	text, revision, err := kv.Get(ctx, RecordPrefix+string(shard))
	if err == nil && revision > 0 {
		r, _ = decode(text)
	}
	return r, err
}
