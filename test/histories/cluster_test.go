package histories

import (
	"cmp"
	"database/sql"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/control/declared"
	"locus/control/jobs"
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/internal/test/process"
	"locus/internal/test/servers"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

const (
	schema    = "shop"
	registers = 40
	accounts  = 40
	balance   = 1000
)

// world is three shards, of which the last owns nothing yet, an etcd, and three
// proxies that also run moves.
type world struct {
	servers  []*servers.Server
	etcd     *process.Process
	proxies  [3]*process.Process
	swapped  bool
	patience time.Duration // of movers with what fails; 0: the default
	hold     time.Duration // of statements while their rows change hands; 0: the default
	stride   float64       // percent that one step under faults hands over
	pace     time.Duration // of clients under faults
	struck   struck
	hot      *hot   // nil: rows are of many owners, and genes are handed over whole
	blinded  bool   // the servers are told of no condition that leaves others' rows out
	seed     uint64 // of what clients do; 0: any
	stepped  int    // how often rows were seen to have changed hands
	genes    string // which shard has which, as the declared map says it; empty: the last shard has none
	granted  string // what else is declared of the user

	dir   string
	port  int // of etcd
	kv    *etcd.KV
	store *jobs.Store
	log   *os.File

	direct [3]*sql.DB // to the servers
}

func open(t *testing.T, engine servers.Engine, args ...string) *world {
	t.Helper()
	return openAs(t, engine, world{}, args...)
}

// openAs is open of a world with what is said of it already.
func openAs(t *testing.T, engine servers.Engine, like world, args ...string) *world {
	t.Helper()
	w := &like
	w.servers, w.dir = servers.Start(t, engine, 3, append(args, "--innodb-lock-wait-timeout=2")...), t.TempDir()
	w.stride, w.pace, w.struck = 25, 2*time.Millisecond, struck{processes: map[string]bool{}}
	for _, s := range w.servers {
		s.Exec(t, append([]string{"CREATE DATABASE " + schema}, w.tables()...)...)
	}
	var err error
	if w.log, err = os.Create(filepath.Join(w.dir, "log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.killAll(t)
		_ = w.log.Close()
		if text, err := os.ReadFile(w.log.Name()); err == nil && t.Failed() {
			t.Logf("what the processes said:\n%s", text[max(0, len(text)-20_000):])
		}
	})
	w.etcd = &process.Process{Variable: childVariable, Name: "etcd", Log: w.log}
	w.startEtcd(t)
	w.declare(t)
	for i := range w.proxies {
		w.proxies[i] = &process.Process{Variable: childVariable, Name: fmt.Sprintf("proxy %d", i), Log: w.log}
	}
	return w
}

func (w *world) tables() []string {
	if w.hot != nil {
		return hotTables
	}
	return []string{
		"CREATE TABLE shop.register (uid BIGINT NOT NULL PRIMARY KEY, value BIGINT NOT NULL, gene SMALLINT UNSIGNED NOT NULL, KEY (gene))",
		"CREATE TABLE shop.item (item_id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL, value BIGINT NOT NULL, tag BIGINT NOT NULL, KEY (uid))",
		"CREATE TABLE shop.account (uid BIGINT NOT NULL PRIMARY KEY, balance BIGINT NOT NULL, " + catalog.OwnGeneDefinition + ")",
		"CREATE TABLE shop.journal (transfer BIGINT NOT NULL, uid BIGINT NOT NULL, peer BIGINT NOT NULL, amount BIGINT NOT NULL, gene SMALLINT UNSIGNED NOT NULL, KEY (gene), UNIQUE KEY by_transfer (transfer))",
		seatTable,
		ticketTable, stubTable,
	}
}

func (w *world) startEtcd(t *testing.T) {
	t.Helper()
	w.etcd.Start(t, child{Dir: filepath.Join(w.dir, "etcd"), Port: w.port})
	_, port, _ := net.SplitHostPort(w.etcd.Addr())
	w.port, _ = strconv.Atoi(port)
}

func (w *world) startProxies(t *testing.T) {
	t.Helper()
	for i := range w.proxies {
		w.startProxy(t, i)
	}
}

func (w *world) startProxy(t *testing.T, i int) {
	t.Helper()
	w.proxies[i].Start(t, child{Dir: filepath.Join(w.dir, "identity"), Etcd: fmt.Sprintf("127.0.0.1:%d", w.port), Password: w.servers[0].Password, Swapped: w.swapped, Patience: w.patience, Hold: w.hold})
}

func (w *world) killAll(t *testing.T) {
	t.Helper()
	for _, p := range append(w.proxies[:], w.etcd) {
		if p != nil {
			p.Kill()
		}
	}
}

func (w *world) declare(t *testing.T) {
	t.Helper()
	client, err := etcd.Open(etcd.Config{Endpoints: []string{w.etcd.Addr()}, RequestTimeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	w.kv = client.Under(prefix)
	w.store = jobs.New(w.kv, "the test", nil)
	var text strings.Builder
	text.WriteString("schema: 1\nshards:\n")
	for i, s := range w.servers {
		fmt.Fprintf(&text, "  s%d: {address: %q, user: %s, secret: shard}\n", i, w.reached(t, s.Addr()), s.User)
	}
	declarations := `tables:
  shop.register: {kind: sharded, owner: uid, gene: gene}
  shop.account: {kind: sharded, owner: uid}
  shop.journal: {kind: sharded, owner: uid, gene: gene}
  shop.item: {kind: sharded, owner: uid, id: {column: item_id, layout: int64}}
` + seatDeclaration + ticketDeclaration
	if w.hot != nil {
		declarations = hotDeclarations
	}
	text.WriteString(declarations + "users:\n  app: {secret: app" + w.granted + "}\nroutes: |\n" + cmp.Or(w.genes, "  0xbfff s0\n  0xffff s1\n"))
	c, err := cluster.Parse([]byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	if c, err = cluster.Succeed(nil, c, router.Stamp{By: "the test", At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	state, err := declared.Read(t.Context(), w.kv)
	if err != nil {
		t.Fatal(err)
	}
	if err := state.Commit(t.Context(), w.kv, c); err != nil {
		t.Fatal(err)
	}
}

// fill makes the rows that are there from the beginning.
func (w *world) fill(t *testing.T) {
	t.Helper()
	db := client(w.proxies[0].Addr(), false)
	defer db.Close()
	if w.hot != nil {
		w.hot.fill(t, db)
		return
	}
	if _, err := db.Exec(fillSeats()); err != nil {
		t.Fatal(err)
	}
	for _, table := range []struct {
		name, columns string
		rows, value   int
	}{{"register", "uid, value", registers, 0}, {"account", "uid, balance", accounts, balance}} {
		rows := make([]string, table.rows)
		for i := range rows {
			rows[i] = fmt.Sprintf("(%d, %d)", i, table.value)
		}
		if _, err := db.Exec("INSERT INTO " + table.name + " (" + table.columns + ") VALUES " + strings.Join(rows, ", ")); err != nil {
			t.Fatal(err)
		}
	}
}

// all runs a query on every shard and gives each row to f.
func (w *world) all(t *testing.T, query string, f func(shard int, rows *sql.Rows) error) {
	t.Helper()
	for i, s := range w.servers {
		if w.direct[i] == nil {
			w.direct[i] = s.DB(t, schema)
		}
		rows, err := w.direct[i].Query(query)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			if err := f(i, rows); err != nil {
				t.Fatal(err)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// rows reads four columns of a table: those rows that are on the shard that owns them.
func (w *world) rows(t *testing.T, columns, table string, f func(row [4]int64)) (strays int) {
	t.Helper()
	_, m := w.routes(t)
	id := "0"
	if w.hot != nil {
		id, columns = table+"_id", strings.ReplaceAll(columns, "number", numberOf[table])
	} else {
		columns = strings.ReplaceAll(strings.ReplaceAll(columns, "number", "uid"), "seat.uid", "number")
	}
	w.all(t, "SELECT uid, "+id+", "+columns+" FROM "+table, func(shard int, rows *sql.Rows) error {
		var uid, id int64
		var row [4]int64
		err := rows.Scan(&uid, &id, &row[0], &row[1], &row[2], &row[3])
		home := m.LookupRow(gene.OfInt(uid, gene.W16), layout.Residue(orderid.ID{Lo: uint64(id)}))
		if m.Shard(home) != router.ShardName(fmt.Sprintf("s%d", shard)) {
			strays++
			return err
		}
		f(row)
		return err
	})
	return strays
}
