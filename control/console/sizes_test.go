package console

import (
	"fmt"
	"strings"
	"testing"

	"locus/control/ops"
	"locus/router"
	"locus/router/catalog"
)

// Tables have sizes on all shards together and on each shard. This includes undeclared tables.
func TestTablesHaveSizes(t *testing.T) {
	a := get[sizesAnswer](t, newConsole(&fakeCluster{}), "/v1/tables/sizes")
	if len(a.Tables) != 2 || len(a.Wrong) != 1 || !strings.Contains(a.Wrong[0], "shard s2: it is down") || a.Left != 0 {
		t.Fatalf("%+v", a)
	}
	orders, old := a.Tables[0], a.Tables[1]
	if orders.Name != "orders" || !orders.Declared || orders.Rows != 400 || orders.Bytes != 4000 || len(orders.Shards) != 2 || orders.Skew != 1.5 {
		t.Errorf("%+v", orders)
	}
	if old.Name != "old" || old.Declared || old.Skew != 0 || old.Shards[0] != (sizeOnShard{"s0", 7, 70}) {
		t.Errorf("%+v", old)
	}
}

// TestManyTablesAreALittleAnswer: a thousand tables on three shards take less than 200 kB, compressed as browsers request it.
func TestManyTablesAreALittleAnswer(t *testing.T) {
	c := newConsole(&fakeCluster{})
	found := sizes{by: map[router.ShardName][]ops.TableSize{}}
	for i := range 3 * mostSizes / 2 {
		for _, shard := range []router.ShardName{"s0", "s1", "s2"} {
			found.by[shard] = append(found.by[shard], ops.TableSize{Table: catalog.TableName{Schema: "shop", Name: fmt.Sprintf("table_with_a_name_%d", i)}, Rows: int64(i * 12345), Bytes: int64(i * 1234567)})
		}
	}
	a := newSizesAnswer(found, c.looks.declared())
	if len(a.Tables) != mostSizes || a.Left != mostSizes/2 || a.Tables[0].Bytes < a.Tables[1].Bytes {
		t.Errorf("%d tables, %d left", len(a.Tables), a.Left)
	}
	c.sizes.value, c.sizes.at = found, a.At.AddDate(3000, 0, 0)
	if w := replyIn(c, "/v1/tables/sizes", "gzip"); w.Body.Len() > 200<<10 || w.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("%d bytes", w.Body.Len())
	}
}
