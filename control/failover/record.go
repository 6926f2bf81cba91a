package failover

import (
	"context"
	"encoding/json"
	"fmt"
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
	// Trouble is why the shard is left as it is, and Remedy what to do; empty: all is well.
	Trouble string    `json:"trouble,omitempty"`
	Remedy  string    `json:"remedy,omitempty"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
}

const (
	recordPrefix = "failover/records/"
	watchPrefix  = "failover/watches/" // the lease of who watches a shard
)

// Records reads those of all shards.
func Records(ctx context.Context, kv *etcd.KV) (map[router.ShardName]Record, error) {
	pairs, _, err := kv.GetPrefix(ctx, recordPrefix)
	if err != nil {
		return nil, err
	}
	records := make(map[router.ShardName]Record, len(pairs))
	for _, pair := range pairs {
		var r Record
		if err := json.Unmarshal(pair.Value, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", pair.Key, err)
		}
		records[router.ShardName(strings.TrimPrefix(pair.Key, recordPrefix))] = r
	}
	return records, nil
}

func (r Record) write(ctx context.Context, kv *etcd.KV, shard router.ShardName) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = kv.Commit(ctx, nil, etcd.Put(recordPrefix+string(shard), text))
	return err
}

// read is the record of a shard; an empty one if there is none.
func read(ctx context.Context, kv *etcd.KV, shard router.ShardName) (r Record, err error) {
	text, revision, err := kv.Get(ctx, recordPrefix+string(shard))
	if err == nil && revision > 0 {
		err = json.Unmarshal(text, &r)
	}
	return r, err
}
