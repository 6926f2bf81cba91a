package schema

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"
)

// markerStatus are the status variables that count definitions, and the one that tells a restart, which sets the counters to zero.
// Both servers count a statement wherever it runs: alone, prepared, in a routine or in an event. FLUSH is among them since it
// makes rights valid that were written into their tables.
const markerStatus = "SHOW GLOBAL STATUS WHERE Variable_name REGEXP '^Com_(alter|create|drop|rename|grant|revoke|import|install|uninstall|flush)' OR Variable_name = 'Uptime'"

// uptimeSlack is how much less a server's uptime may have grown than the time that has passed: it counts whole seconds.
const uptimeSlack = 2 * time.Second

// Marker tells cheaply whether a server may have another schema than before: whether it ran a definition, was restarted, or is
// another server.
type Marker struct {
	Counts string        `json:"counts"` // a digest of the server's name and counters
	Uptime time.Duration `json:"uptime"`
	At     time.Time     `json:"at"` // of the process's clock, before the server was asked
}

// ReadMarker reads a server's marker. A schema that is read after it is not older than the marker.
func ReadMarker(ctx context.Context, q Querier) (*Marker, error) {
	m := &Marker{At: time.Now()}
	counts := xxhash.New()
	who, err := q.Query(ctx, "SELECT @@GLOBAL.server_id, @@hostname, @@port")
	if err != nil {
		return nil, err
	}
	rows, err := q.Query(ctx, markerStatus)
	if err != nil {
		return nil, err
	}
	for _, row := range append(who, rows...) {
		if string(row[0]) == "Uptime" {
			seconds, err := strconv.ParseInt(string(row[1]), 10, 64)
			if err != nil {
				return nil, fmt.Errorf("read the server's uptime: %w", err)
			}
			m.Uptime = time.Duration(seconds) * time.Second
			continue
		}
		_, _ = counts.Write(append(bytes.Join(row, []byte{0}), '\n')) // it never fails
	}
	m.Counts = strconv.FormatUint(counts.Sum64(), 16)
	return m, nil
}

// Same reports whether the schema can't have changed since an earlier marker was read, perhaps by another process. If that process's clock
// is ahead, a restart may go unnoticed after which the server has counted the same definitions again. A nil Marker is like no other.
func (m *Marker) Same(before *Marker) bool {
	return m != nil && before != nil && m.Counts == before.Counts &&
		m.Uptime >= before.Uptime && m.Uptime+uptimeSlack >= before.Uptime+m.At.Sub(before.At)
}
