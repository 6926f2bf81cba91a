// Package backup notes one moment of all shards, and holds servers that were restored to it.
//
// It owns the file of a cut, and the lock that makes one. It never copies a row, and never changes one: that is what the
// servers' own programs are for.
package backup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"locus/router"
)

// Cut is one moment: no transaction is on one shard at it and not on another one, but for those that are prepared on all.
type Cut struct {
	Cluster    string    `json:"cluster"`
	At         time.Time `json:"at"`
	HeldMs     int64     `json:"held_ms"` // for how long writes waited
	MapVersion int64     `json:"map_version"`
	// Routes is which shard had which genes, as in cluster.yaml.
	Routes []string `json:"routes"`
	// Shards are where each of them was.
	Shards map[router.ShardName]Point `json:"shards"`
	// Counters are how far each counter of IDs was granted, by its key in etcd: no row has a greater number.
	Counters map[string]uint64 `json:"counters"`
}

// Point is where a shard was.
type Point struct {
	Server  string `json:"server"` // that was its primary
	MariaDB bool   `json:"mariadb,omitempty"`
	// Has are its transactions: gtid_executed, or MariaDB's gtid_binlog_state.
	Has string `json:"has"`
	// Prepared are branches of transactions over several shards that were not decided then: they are there after a restore, and decided by it.
	Prepared int `json:"prepared,omitempty"`
}

// Encode is the file.
func (c Cut) Encode() ([]byte, error) {
	text, err := json.MarshalIndent(c, "", "  ")
	return append(text, '\n'), err
}

// Decode reads what Encode wrote.
func Decode(text []byte) (c Cut, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err = d.Decode(&c); err == nil && (len(c.Shards) == 0 || c.At.IsZero()) {
		err = fmt.Errorf("it has no shards: it is none that locus backup wrote")
	}
	return c, err
}
