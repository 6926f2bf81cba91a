package session

import (
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/interrupt"
	"locus/proxy/wire"
)

// BenchmarkKillPlanning measures the longest time that a client waits for the end of a statement that is killed while it is
// planned.
func BenchmarkKillPlanning(b *testing.B) {
	c := newHotClient(b, backend.Capabilities)
	packet := textCommand("SELECT COUNT(*) FROM orders WHERE id IN (" + strings.Repeat("1, -1, ", 20_000) + "1)")
	longest := time.Duration(0)
	for b.Loop() {
		began := make(chan time.Time, 1)
		kill := func() {
			go func() {
				began <- time.Now()
				_, _ = c.session.Interrupts().Cancel(b.Context(), interrupt.Killed, 0)
			}()
		}
		c.atNextPlan(kill)
		c.send(packet)
		if code := c.outcome(wire.QueryResponse); code != mysql.ER_QUERY_INTERRUPTED {
			b.Fatalf("error %d", code)
		}
		longest = max(longest, time.Since(<-began))
	}
	b.ReportMetric(float64(longest)/float64(time.Millisecond), "ms")
}
