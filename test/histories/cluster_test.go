package histories

import (
	"cmp"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/router"
	"locus/router/catalog"
	harness "locus/test/cluster"
)

const (
	schema    = "shop"
	registers = 40
	accounts  = 40
	balance   = 1000
)

// world is a cluster of three shards, the last of which owns nothing yet, and three proxies that also run
// moves.
type world struct {
	*harness.Cluster
	swapped  bool          // steps read the position before they hold anything
	patience time.Duration // how long movers retry after errors; 0: the default
	hold     time.Duration // the longest time that a statement is held, and that a step or a lock waits for a transaction; 0: the defaults
	stride   float64       // percent of the genes that one step under faults hands over
	pace     time.Duration // of clients under faults
	struck   struck
	hot      *hot   // nil: rows are of many owners, and genes are handed over whole
	blinded  bool   // the condition that excludes other shards' rows is removed from all texts
	seed     uint64 // seed of the clients' random operations; 0: any
	stepped  int    // how often genes were seen to change hands
	genes    string // the declared route map; empty: the last shard has no genes
	granted  string // further fields of the user's declaration
}

func open(t *testing.T, engine servers.Engine, args ...string) *world {
	t.Helper()
	return openAs(t, engine, world{}, args...)
}

// openAs is like open, with the settings of like.
func openAs(t *testing.T, engine servers.Engine, like world, args ...string) *world {
	t.Helper()
	w := &like
	w.stride, w.pace, w.struck = 25, scale.Of(6*time.Millisecond, 2*time.Millisecond), struck{processes: map[string]bool{}}
	lockWait := cmp.Or(int(w.hold.Seconds()), 2)
	options := harness.Options{
		Shards: 2, Spare: 1, Proxies: 3, SQL: w.tables(), Tables: w.declarations(), UserFields: w.granted,
		Routes: cmp.Or(w.genes, "  0xbfff s0\n  0xffff s1\n"), ServerArgs: append(args, fmt.Sprintf("--innodb-lock-wait-timeout=%d", lockWait)),
	}
	if w.blinded {
		options.Address = func(s *harness.Shard) string { return blindly(t, s.Addr()) }
	}
	w.Cluster = harness.Start(t, engine, options)
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

func (w *world) startProxies(t *testing.T) {
	t.Helper()
	for i := range w.Proxies {
		w.startProxy(t, i)
	}
}

func (w *world) startProxy(t *testing.T, i int) {
	t.Helper()
	p := w.Proxies[i]
	p.Patience, p.Hold = w.patience, w.hold
	if w.swapped {
		p.Wiring = swappedWiring
	}
	p.Start()
}

// declarations returns the lines of the cluster's file that declare the tables.
func (w *world) declarations() string {
	if w.hot != nil {
		return hotDeclarations
	}
	return `  shop.register: {kind: sharded, owner: uid, gene: gene}
  shop.account: {kind: sharded, owner: uid}
  shop.journal: {kind: sharded, owner: uid, gene: gene}
  shop.item: {kind: sharded, owner: uid, id: {column: item_id, layout: int64}}
` + seatDeclaration + ticketDeclaration
}

// fill inserts the rows that exist from the beginning.
func (w *world) fill(t *testing.T) {
	t.Helper()
	db := client(w.Proxies[0].Addr(), false)
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
	w.All(t, "SELECT uid, "+id+", "+columns+" FROM "+table, func(shard int, rows *sql.Rows) error {
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
