//go:build long

package moves

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/migrate/applier"
	"locus/migrate/copier"
	"locus/router/catalog"
)

// Long rows go through copy, stream and comparison. What the
// process took for it is logged; the figure is in docs/internals/jobs.md.
func TestLargeRows(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		both := servers.Start(t, engine, 2, "--max-allowed-packet=256M", "--innodb-flush-log-at-trx-commit=0")
		p := &pair{t: t, engine: engine, source: both[0], target: both[1], database: "own", job: "large"}
		for _, s := range both {
			s.Exec(t, "CREATE DATABASE own")
		}
		p.both("CREATE TABLE large (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, v LONGBLOB)")
		fill := func(from, to int) {
			for n := from; n < to; n++ {
				p.on(p.source, fmt.Sprintf("INSERT INTO large VALUES (%s, %d, REPEAT(X'00ff27', %d))", idOf(int64(n), 1), n, largeBytes/3))
			}
		}
		fill(0, 4)
		p.on(p.source, "ANALYZE TABLE large")
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(200 << 20))
		tables := p.read(map[string]catalog.Declaration{"large": byID})
		parts := all(4)
		s := p.stream(applier.Config{Parts: parts}, tables)
		p.copy(s, copier.Config{}, tables)
		fill(4, 8)
		p.settle(s)
		if r := p.verify(s, tables, parts, 2); !r.Equal() {
			t.Errorf("compared: %v, %d unsettled", r.Differences, r.Unsettled)
		}
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(status)) {
			if strings.HasPrefix(line, "VmHWM") {
				t.Log(strings.TrimSpace(line))
			}
		}
	})
}

const largeBytes = 24 << 20
