package moves

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/migrate/applier"
	"locus/migrate/copier"
	"locus/migrate/table"
	"locus/router/catalog"
)

const benchRows = 100_000

// fillBench makes a table of plain orders, the way a server itself makes them.
func (p *pair) fillBench() []*table.Table {
	p.t.Helper()
	p.both("CREATE TABLE big (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, a INT, b VARCHAR(60), c DECIMAL(12,2), d DATETIME, e VARCHAR(30), f INT, KEY (owner))")
	statements := []string{}
	for from := 0; from < benchRows; from += 2000 {
		var s strings.Builder
		s.WriteString("INSERT INTO big VALUES ")
		for n := from; n < from+2000; n++ {
			if n > from {
				s.WriteByte(',')
			}
			fmt.Fprintf(&s, "(%s,%d,%d,'some text of row %d',%d.50,'2024-01-01 10:00:00','state-%d',%d)", idOf(int64(n%20000), uint64(n)), n%20000, n, n, n, n%7, n)
		}
		statements = append(statements, s.String())
	}
	p.on(p.source, statements...)
	return p.read(map[string]catalog.Declaration{"big": byID})
}

func eachBench(b *testing.B, bench func(b *testing.B, p *pair)) {
	for _, engine := range []servers.Engine{servers.MariaDB, servers.MySQL} {
		b.Run(string(engine), func(b *testing.B) { bench(b, newPair(b, engine)) })
	}
}

// BenchmarkCopy copies the same rows by the copier, and by a dump that is piped
// into the other server, in turns.
func BenchmarkCopy(b *testing.B) {
	eachBench(b, func(b *testing.B, p *pair) {
		tables := p.fillBench()
		var ours, dump time.Duration
		for n := range b.N {
			p.job = fmt.Sprintf("%s/%d", p.database, n)
			p.on(p.target, "TRUNCATE TABLE big")
			s := p.stream(applier.Config{Parts: all(4)}, tables)
			began := time.Now()
			p.copy(s, copier.Config{}, tables)
			ours += time.Since(began)
			s.stop()
			p.on(p.target, "TRUNCATE TABLE big")
			began = time.Now()
			p.dump(b)
			dump += time.Since(began)
		}
		rows := float64(b.N * benchRows)
		b.ReportMetric(rows/ours.Seconds(), "rows/s")
		b.ReportMetric(rows/dump.Seconds(), "dump-rows/s")
		b.ReportMetric(float64(dump)/float64(ours), "x-of-dump")
	})
}

func (p *pair) dump(b *testing.B) {
	b.Helper()
	login := func(s *servers.Server) string {
		return fmt.Sprintf("-h127.0.0.1 -P%d -u%s -p%s --skip-ssl", s.Port(), s.User, s.Password)
	}
	pipe := fmt.Sprintf("mariadb-dump %s --single-transaction --no-create-info --skip-add-locks %s big | mariadb %s %s",
		login(p.source), p.database, login(p.target), p.database)
	if out, err := exec.CommandContext(b.Context(), "bash", "-o", "pipefail", "-c", pipe).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
}

// BenchmarkApply applies single-row transactions that the source has gathered.
func BenchmarkApply(b *testing.B) {
	eachBench(b, func(b *testing.B, p *pair) {
		tables := p.fillBench()
		s := p.stream(applier.Config{Parts: all(4)}, tables)
		p.copy(s, copier.Config{}, tables)
		p.settle(s)
		s.stop()
		const changes = 20_000
		var took time.Duration
		for range b.N {
			p.update(b, changes)
			s := p.stream(applier.Config{Parts: all(4)}, tables)
			began := time.Now()
			p.settle(s)
			took += time.Since(began)
			s.stop()
		}
		b.ReportMetric(float64(b.N*changes)/took.Seconds(), "changes/s")
	})
}

// update makes n transactions of one row each, by a procedure of the server's.
func (p *pair) update(b *testing.B, n int) {
	b.Helper()
	p.on(p.source, "DROP PROCEDURE IF EXISTS many",
		`CREATE PROCEDURE many(n INT) BEGIN DECLARE i INT DEFAULT 0;
			WHILE i < n DO UPDATE big SET a = a + 1, f = f + 2 WHERE owner = i % 20000 LIMIT 1; SET i = i + 1; END WHILE; END`,
		fmt.Sprintf("CALL many(%d)", n))
}
