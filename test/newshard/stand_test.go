package newshard

import (
	"bytes"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/test/cluster"
)

func TestMain(m *testing.M) { cluster.Main(m, nil) }

// stand is a cluster of two shards with a proxy, and a third server that is no shard yet.
type stand struct {
	*cluster.Cluster
	t       *testing.T
	servers []*servers.Server
	listen  string // the proxy's address
}

const keyRing = "current: 1\nkeys:\n  - version: 1\n    key: 000102030405060708090a0b0c0d0e0f\n"

// made is the schema of the first shards; ordered contains a column that locus adds and hides.
var made = []string{
	"ALTER DATABASE shop CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
	"CREATE TABLE shop.ordered (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, owner BIGINT NOT NULL, country INT NOT NULL, KEY (owner))",
	"CREATE TABLE shop.region (id INT NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL)",
	`CREATE TABLE shop.country (code INT NOT NULL PRIMARY KEY, region INT NOT NULL DEFAULT 1, name VARCHAR(40) CHARACTER SET latin1 NOT NULL DEFAULT 'é', price DECIMAL(10,2) NOT NULL DEFAULT 9.50,
		hits BIGINT NOT NULL DEFAULT 0, kind ENUM('a','b') DEFAULT 'b', raw VARBINARY(20) DEFAULT X'00ff27', seen TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
		twice BIGINT GENERATED ALWAYS AS (hits * 2) STORED, KEY (name), FOREIGN KEY (region) REFERENCES shop.region (id))`,
	"CREATE SQL SECURITY INVOKER VIEW shop.dear AS SELECT code, name FROM shop.country WHERE price > 5",
	"CREATE VIEW shop.accents AS SELECT code FROM shop.country WHERE name <> 'é%'",
	"CREATE VIEW shop.aim AS SELECT MAX(code) AS most FROM shop.dear",
	`CREATE FUNCTION shop.accented(t VARCHAR(40)) RETURNS VARCHAR(60) CHARACTER SET utf8mb4 DETERMINISTIC NO SQL RETURN CONCAT(t, 'é\'')`,
	"CREATE PROCEDURE shop.says(OUT t VARCHAR(60)) NO SQL COMMENT 'calls' BEGIN SET t = accented('x'); END",
	"CREATE FUNCTION shop.regions() RETURNS BIGINT READS SQL DATA RETURN (SELECT COUNT(*) FROM region)",
	"CREATE FUNCTION shop.more_regions() RETURNS BIGINT READS SQL DATA RETURN regions() + 1",
}

func open(t *testing.T, engine servers.Engine) *stand {
	t.Helper()
	c := &stand{t: t, Cluster: cluster.Start(t, engine, cluster.Options{Shards: 2, SQL: made, KeyRing: keyRing, Undeclared: true})}
	for _, s := range c.Shards {
		c.servers = append(c.servers, s.Server)
	}
	c.servers = append(c.servers, servers.Start(t, engine, 1)...)
	c.declare(2)
	c.MustLocus("apply", "-f", c.Path("cluster.yaml"))
	c.listen = c.Serve("proxy").Addr
	return c
}

// declare writes the file of a cluster with so many shards, the first two of which have genes.
func (c *stand) declare(shards int) {
	c.t.Helper()
	var b strings.Builder
	b.WriteString("shards:\n")
	for i, s := range c.servers[:shards] {
		fmt.Fprintf(&b, "  s%d: {address: %q, user: %s, secret: shard}\n", i, s.Addr(), s.User)
	}
	b.WriteString("tables:\n  shop.ordered: {kind: sharded, owner: owner}\n  shop.country: {kind: global}\n  shop.region: {kind: global}\nusers:\n  app: {secret: app}\n")
	if shards == 2 {
		b.WriteString("routes: |\n  0x7fff s0\n  0xffff s1\n")
	}
	c.Write("cluster.yaml", b.String())
}

func (c *stand) db() *sql.DB {
	c.t.Helper()
	return c.at(c.listen)
}

// at connects to a proxy.
func (c *stand) at(listen string) *sql.DB {
	c.t.Helper()
	config := cluster.Config(listen)
	config.Timeout, config.ReadTimeout = 0, 0
	db := cluster.Open(config)
	c.t.Cleanup(func() { _ = db.Close() })
	return db
}

// rows are all rows of a query, as text.
func rows(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	r, err := db.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer r.Close()
	columns, err := r.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for r.Next() {
		values, into := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := r.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			fmt.Fprintf(&b, "%q ", v)
		}
		b.WriteByte('\n')
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
