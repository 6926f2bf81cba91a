package e2e

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/proxy/meter"
	"locus/test/shop"
)

// For every route, each statement is counted by its digest, its kind, its shards and its outcome, also one that is
// refused before it runs.
func TestEveryStatementIsCounted(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, func(c *mysql.Config) { c.MultiStatements = true })
		db.SetMaxOpenConns(1)
		exec := func(query string, fails bool, args ...any) {
			t.Helper()
			if _, err := db.ExecContext(t.Context(), query, args...); (err != nil) != fails {
				t.Fatalf("%s: %v", query, err)
			}
		}
		s.Proxy.Statements().Forget(time.Now())
		for i := range 5 {
			exec(fmt.Sprintf("INSERT INTO product (product_id, name, price) VALUES (%d, 'p', 1)", i), false)
		}
		exec("INSERT INTO product (product_id, name, price) VALUES (1, 'p', 1)", true)
		for buyer := range 6 {
			exec("INSERT INTO test_order (buyer_uid, amount) VALUES (?, 1)", false, buyer)
			exec(fmt.Sprintf("SELECT COUNT(*) FROM test_order WHERE buyer_uid = %d", buyer), false)
		}
		exec("SELECT MAX(amount) FROM test_order", false)
		exec("UPDATE test_order SET amount = 2", true) // locus-1103
		exec("SELECT nothing FROM product", true)
		exec("SELEC 1", true)
		exec("BEGIN; UPDATE test_order SET amount = 3 WHERE buyer_uid = 3; COMMIT", false)
		if _, err := db.PrepareContext(t.Context(), "SELECT nothing FROM product WHERE name = ?"); err == nil {
			t.Error("a column that isn't there was found")
		}
		count := func(text string) (f meter.Figures) {
			t.Helper()
			until(t, "counted: "+text, func() bool {
				list := s.Proxy.Statements().Report(time.Now(), 1000, 500).Digests
				i := slices.IndexFunc(list, func(f meter.Figures) bool { return f.Text == text })
				if i >= 0 {
					f = list[i]
				}
				return i >= 0
			})
			return f
		}
		count("COMMIT") // earlier statements of the session are counted, too
		for text, want := range map[string]meter.Figures{
			"INSERT INTO product (product_id, name, price) VALUES (?, ?, ?)": {Kind: "insert", Count: 6, Failed: 1, Rows: 5, Several: 5, LastCode: 1062},
			"INSERT INTO test_order (buyer_uid, amount) VALUES (?, ?)":       {Kind: "insert", Count: 6, Rows: 6},
			"SELECT COUNT(*) FROM test_order WHERE buyer_uid = ?":            {Kind: "select", Count: 6, Rows: 6},
			"SELECT MAX(amount) FROM test_order":                             {Kind: "select", Count: 1, Rows: 1, Several: 1},
			"UPDATE test_order SET amount = ?":                               {Kind: "update", Count: 1, Failed: 1, LastCode: 1235},
			"SELECT nothing FROM product":                                    {Kind: "select", Count: 1, Failed: 1, LastCode: 1054},
			"SELEC ?":                                                        {Kind: "other", Count: 1, Failed: 1, LastCode: 1064},
			"UPDATE test_order SET amount = ? WHERE buyer_uid = ?":           {Kind: "update", Count: 1, Rows: 1},
			"BEGIN":  {Kind: "begin", Count: 1},
			"COMMIT": {Kind: "commit", Count: 1},
		} {
			f := count(text)
			got := meter.Figures{Kind: f.Kind, Count: f.Count, Failed: f.Failed, Rows: f.Rows, Several: f.Several, LastCode: f.LastCode}
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
				t.Errorf("%s\n got %+v\nwant %+v", text, got, want)
			}
			if f.Database != s.Schema || f.TotalMs <= 0 || len(f.Times) == 0 || f.First.IsZero() || f.Last.Before(f.First) {
				t.Errorf("%s: %+v", text, f)
			}
		}
		shards := map[string]uint64{}
		for _, l := range s.Proxy.Status().Meter.Latencies.All() {
			if l.Kind == meter.Select && l.Ending == meter.Done {
				shards[l.Shard] += l.Count
			}
		}
		if shards["s0"]+shards["s1"] < 6 || shards["s0"] == 0 || shards["s1"] == 0 || shards[meter.SeveralShards] != 1 {
			t.Errorf("reads by shard: %v", shards)
		}
		until(t, "errors are counted by their numbers, those of PREPARE too", func() bool {
			codes := map[uint16]uint64{}
			for code, n := range s.Proxy.Status().Meter.Codes.All {
				codes[code] = n
			}
			return maps.Equal(codes, map[uint16]uint64{1062: 1, 1054: 2, 1064: 1, 1235: 1})
		})
	})
}
