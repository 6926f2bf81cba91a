package e2e

import (
	"testing"

	"locus/internal/test/servers"
	"locus/test/shop"
)

// BenchmarkAggregates sends COUNT(*) and SUM to two shards and combines the answers in three ways: by the proxy; by a
// server, over the groups that the shards returned (used for everything except the five aggregates by themselves);
// and, as a lower bound for any way by a server, by the proxy with one more statement that adds two rows of literals.
// The figures are in docs/internals/adr/0013-two-engines-for-aggregates.md.
func BenchmarkAggregates(b *testing.B) {
	for _, engine := range []servers.Engine{servers.MariaDB, servers.MySQL} {
		b.Run(string(engine), func(b *testing.B) {
			s := shop.Start(b, engine, shop.Options{})
			db := s.DB(b, nil)
			db.SetMaxIdleConns(16)
			for buyer := range 1000 {
				if _, err := db.Exec("INSERT INTO test_order (buyer_uid, amount) VALUES (?, 1.5)", buyer); err != nil {
					b.Fatal(err)
				}
			}
			const (
				merged   = "SELECT COUNT(*), SUM(amount) FROM test_order"
				groups   = "SELECT COUNT(*) + 0, SUM(amount) FROM test_order"
				literals = "SELECT SUM(n), SUM(s) FROM (SELECT 500 AS n, 750.00 AS s UNION ALL SELECT 500, 750.00) AS parts"
			)
			for _, way := range []struct {
				name       string
				statements []string
				gathered   bool
			}{{"merged", []string{merged}, false}, {"groups", []string{groups}, true}, {"literals", []string{merged, literals}, false}} {
				b.Run(way.name, func(b *testing.B) {
					before := s.Proxy.Status().Counts.Gathered.Load()
					b.SetParallelism(4)
					b.RunParallel(func(p *testing.PB) {
						for p.Next() {
							for _, statement := range way.statements {
								var n int64
								var sum float64
								if err := db.QueryRow(statement).Scan(&n, &sum); err != nil || n != 1000 || sum != 1500 {
									b.Errorf("%s: %d, %v, %v", statement, n, sum, err)
									return
								}
							}
						}
					})
					if gathered := s.Proxy.Status().Counts.Gathered.Load() > before; gathered != way.gathered {
						b.Errorf("gathered: %t", gathered)
					}
				})
			}
		})
	}
}
