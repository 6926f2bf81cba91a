// Package backup records one moment of all shards, and compares restored servers with it.
//
// It owns the file of a cut, and the lock that makes a cut consistent. It never copies or changes a row: that
// is the task of the servers' own backup programs.
package backup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"locus/router"
)

// Cut is one moment of all shards. No transaction is on one shard at that moment and missing on another, except
// those that are prepared on all of their shards.
type Cut struct {
	Cluster    string    `json:"cluster"`
	At         time.Time `json:"at"`
	HeldMs     int64     `json:"held_ms"` // how long writes waited
	MapVersion int64     `json:"map_version"`
	// Routes lists the owners of the genes, in the format of cluster.yaml.
	Routes []string `json:"routes"`
	// Shards holds the position of each shard.
	Shards map[router.ShardName]Point `json:"shards"`
	// Counters holds the granted bound of each counter of IDs, by its key in etcd. No row has a greater number.
	Counters map[string]uint64 `json:"counters"`
}

// Point is the position of a shard.
type Point struct {
	Server  string `json:"server"` // the shard's primary at that time
	MariaDB bool   `json:"mariadb,omitempty"`
	// Has is its GTID set: gtid_executed, or MariaDB's gtid_binlog_state.
	Has string `json:"has"`
	// Prepared is the number of undecided branches of transactions over several shards. They exist after a
	// restore, and are decided then.
	Prepared int `json:"prepared,omitempty"`
}

// Encode returns the content of the file.
func (c Cut) Encode() ([]byte, error) {
	text, err := json.MarshalIndent(c, "", "  ")
	return append(text, '\n'), err
}

// Decode reads the output of Encode.
func Decode(text []byte) (c Cut, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err = d.Decode(&c); err == nil && (len(c.Shards) == 0 || c.At.IsZero()) {
		err = fmt.Errorf("it has no shards, so locus backup did not write it")
	}
	return c, err
}
