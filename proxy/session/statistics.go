package session

import (
	"fmt"
	"time"

	"locus/proxy/wire"
)

// statistics answers COM_STATISTICS with one line in MySQL's form, without a header. The values about tables are the shards' own,
// and are 0 here.
func (s *Session) statistics() error {
	uptime := max(1, int(time.Since(s.Began).Seconds()))
	questions := s.Counts.Statements.Load()
	text := fmt.Sprintf("Uptime: %d  Threads: %d  Questions: %d  Slow queries: 0  Opens: 0  Flush tables: 0  Open tables: 0  Queries per second avg: %.3f",
		uptime, s.Clients(), questions, float64(questions)/float64(uptime))
	out, _ := wire.AppendPacket(s.client.Out[:0], s.client.Seq, []byte(text))
	return s.client.Flush(out)
}
