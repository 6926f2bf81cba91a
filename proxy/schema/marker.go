package schema

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"
)

// markerStatus reads the status variables that count definitions, and Uptime, which shows a restart that resets the counters. Both servers
// count a statement wherever it runs: alone, prepared, in a routine or in an event. FLUSH is included because it makes privileges effective
// that were written directly into their tables.
const markerStatus = "SHOW GLOBAL STATUS WHERE Variable_name REGEXP '^Com_(alter|create|drop|rename|grant|revoke|import|install|uninstall|flush)' OR Variable_name = 'Uptime'"

// uptimeSlack is the tolerance when the growth of a server's uptime is compared with the time that has passed, because the uptime counts whole
// seconds.
const uptimeSlack = 2 * time.Second

// Marker allows a cheap check whether a server may have another schema than before: whether it has run a definition, was restarted, or is
// another server.
type Marker struct {
	Counts string        `json:"counts"` // digest of the server's identity and counters
	Uptime time.Duration `json:"uptime"`
	At     time.Time     `json:"at"` // time of the process's clock before the server was queried
}

// ReadMarker reads a server's marker. A schema that is read afterwards is at least as new as the marker.
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

// Same reports whether the schema can't have changed since an earlier marker was read, perhaps by another process. If that process's clock is
// ahead, a restart may be missed after which the server has counted the same definitions again. A nil Marker equals no other.
func (m *Marker) Same(before *Marker) bool {
	return m != nil && before != nil && m.Counts == before.Counts &&
		m.Uptime >= before.Uptime && m.Uptime+uptimeSlack >= before.Uptime+m.At.Sub(before.At)
}
