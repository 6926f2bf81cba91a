//go:build servers

package generators

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/idgen/row"
	"locus/internal/test/servers"
	"locus/router/cluster"
)

// leafAlloc is the table as Leaf's documents make it.
const leafAlloc = "CREATE TABLE locus.leaf_alloc (biz_tag VARCHAR(128) NOT NULL DEFAULT '', max_id BIGINT NOT NULL DEFAULT 1, step INT NOT NULL, " +
	"description VARCHAR(256) DEFAULT NULL, update_time TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, PRIMARY KEY (biz_tag))"

// The rows of a table are served by their tags without a declaration for each, to several processes, while Leaf
// uses them too. No number is returned twice. A tag without a row is refused from memory. With the table's
// server down, the numbers in memory are still served.
func TestEveryTag(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		c, shared := onShards(t, engine, nil)
		own := servers.Start(t, engine, 1)[0] // to be killed
		shard := c.Shards["s0"]
		shard.Address, shard.User = own.Addr(), own.User
		c.Shards["s0"] = shard
		own.Exec(t, "CREATE SCHEMA locus", leafAlloc, "INSERT INTO locus.leaf_alloc (biz_tag, step) VALUES ('order', 50), ('user', 50), ('declared', 50)")
		leaf := &cluster.MySQLStore{Shard: "s0", Table: "locus.leaf_alloc"}
		every, declared := *leaf, *leaf
		every.EveryTag = true
		c.Generators = map[string]cluster.Generator{
			"leaf":     {Kind: cluster.SegmentGenerator, Store: &cluster.Store{MySQL: &every}, Preload: "100%"},
			"declared": {Kind: cluster.SegmentGenerator, Store: &cluster.Store{MySQL: &declared}, MinStep: 5, MaxStep: 5},
		}
		store := newKV()
		var urls []string
		var sets []*Set
		for range 2 {
			sets = append(sets, openWith(t, store, shared[0].Password))
			server := httptest.NewServer(Handler(sets[len(sets)-1], func() *cluster.Cluster { return c }).WithoutLogin(nil, ""))
			defer server.Close()
			urls = append(urls, server.URL)
		}
		var mu sync.Mutex
		seen := map[string]bool{}
		saw := func(tag, number string) {
			mu.Lock()
			defer mu.Unlock()
			if key := tag + " " + number; seen[key] {
				t.Errorf("%s came twice", key)
			} else {
				seen[key] = true
			}
		}
		get := func(url, path string) (int, string) {
			response, err := http.Get(url + path)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			return response.StatusCode, string(body)
		}
		var clients sync.WaitGroup
		for i := range 4 {
			clients.Go(func() {
				for j := range 60 {
					tag := []string{"order", "user", "declared"}[(i+j)%3]
					status, body := get(urls[(i+j)%2], "/api/segment/get/"+tag)
					if _, err := strconv.Atoi(body); status != 200 || err != nil {
						t.Errorf("%s: %d %s", tag, status, body)
					}
					saw(tag, body)
				}
			})
		}
		clients.Go(func() { // Leaf
			db := own.DB(t, "")
			for range 10 {
				tx, err := db.Begin()
				if err != nil {
					t.Error(err)
					return
				}
				var next int
				if _, err = tx.Exec("UPDATE locus.leaf_alloc SET max_id = max_id + step WHERE biz_tag = 'order'"); err == nil {
					err = tx.QueryRow("SELECT max_id FROM locus.leaf_alloc WHERE biz_tag = 'order'").Scan(&next)
				}
				if err == nil {
					err = tx.Commit()
				}
				if err != nil {
					t.Error(err)
					return
				}
				for n := next - 50; n < next; n++ {
					saw("order", strconv.Itoa(n))
				}
			}
		})
		clients.Wait()
		for path, want := range map[string]string{
			"/api/segment/get/other":       "404 generator \"other\": no such generator is declared\n",
			"/api/snowflake/get/order":     "404 generator \"order\": no such generator is declared\n",
			"/api/segment/get/ORDER":       "404 generator \"ORDER\": no such generator is declared\n",
			"/api/segment/get/leaf":        "400 generator leaf: it has numbers for each tag of locus.leaf_alloc on shard s0: name one, as tag=…\n",
			"/api/segment/get/leaf?tag=no": "404 ",
		} {
			if status, body := get(urls[0], path); !strings.HasPrefix(fmt.Sprint(status, " ", body), want) {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
		_, body := get(urls[0], "/api/segment/get/leaf?tag=order")
		saw("order", body)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, tag := range []string{"order", "user", "declared"} {
			var next int
			must(own.DB(t, "").QueryRow("SELECT max_id FROM locus.leaf_alloc WHERE biz_tag = ?", tag).Scan(&next))
			if next < 50 {
				t.Errorf("max_id of %s is %d", tag, next)
			}
		}
		db := own.DB(t, "")
		must(own.Kill())
		leafs := sets[0].opened("leaf").tags
		var err error
		leafs.rows, err = row.Open(db, "locus.leaf_alloc", time.Now) // this process has read no tags
		must(err)
		if status, body := get(urls[0], "/api/segment/get/user"); status != 200 {
			t.Errorf("with the server down: %d %s", status, body)
		}
	})
}
