//go:build long

package tpcc

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/proxy/txn"
	"locus/test/shop"
	"locus/test/suites/gomodule"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

const (
	warehouses = 4
	// sharded are its tables: eight belong to a warehouse, and items are the same for all.
	sharded = `  tpcc.warehouse: {kind: sharded, owner: w_id}
  tpcc.district: {kind: sharded, owner: d_w_id}
  tpcc.customer: {kind: sharded, owner: c_w_id}
  tpcc.history: {kind: sharded, owner: h_w_id}
  tpcc.new_order: {kind: sharded, owner: no_w_id}
  tpcc.orders: {kind: sharded, owner: o_w_id}
  tpcc.order_line: {kind: sharded, owner: ol_w_id}
  tpcc.stock: {kind: sharded, owner: s_w_id}
  tpcc.item: {kind: global}
`
)

func TestSharded(t *testing.T) {
	program := gomodule.Build(t, Module.Copy(t), "./cmd/go-tpc")
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := stand.StartWith(t, engine, shop.Options{Declarations: sharded, Spanning: txn.XA})
		s.Proxy.Database(t, Database)
		tpcc := func(phase string, args ...string) string {
			t.Helper()
			began := time.Now()
			out := string(stand.Command{
				Dir: t.TempDir(), Limit: 30 * time.Minute,
				Args: append([]string{
					program, "tpcc", phase, "-H", s.Proxy.Host, "-P", fmt.Sprint(s.Proxy.Port), "-U", s.Proxy.User, "-p", s.Proxy.Password, "-D", Database,
					"--warehouses", fmt.Sprint(warehouses), "-T", "4",
				}, args...),
			}.Output(t))
			if wrong := Complaint.FindString(out); wrong != "" || !strings.Contains(out, "Finished") {
				t.Fatalf("%s: %s\n%s", phase, wrong, out[max(0, len(out)-2000):])
			}
			t.Logf("%s: %v", phase, time.Since(began).Round(time.Second))
			return out
		}
		tpcc("prepare")
		tpcc("check", "--check-all")
		out := tpcc("run", "--count", "2000")
		t.Logf("%s", out[strings.LastIndex(out, "Finished"):])
		tpcc("check") // one of the other checks is about the initial rows
		s.Spread(t, Database, "warehouse", "district", "customer", "history", "new_order", "orders", "order_line", "stock", "item")
		tpcc("cleanup")
	})
}
