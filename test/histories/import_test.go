package histories

import (
	"database/sql"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"locus/control/declared"
	"locus/control/ops"
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/internal/test/servers"
	"locus/migrate/cutover"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/router"
	"locus/router/catalog"
	harness "locus/test/cluster"
)

// ledger, its lines and its notes are undeclared tables. All their rows are on the default shard until they are
// imported together.
var ledger, line, note = named("ledger"), named("line"), named("note")

func named(name string) catalog.TableName { return catalog.TableName{Schema: schema, Name: name} }

// imported is their declaration for the import. A note's gene is only known from the column that locus creates.
const imported = "shop.ledger owner=uid id=item_id; shop.line parent=item_id; shop.note owner=uid"

const (
	standing = 200 // number of rows that no client changes, with many genes
	keepers  = 8   // number of clients, each with an owner of its own
)

// firstOfS1 is below all IDs of the genes of s1.
const firstOfS1 = int64(0xc000) << 47

var layout, _ = orderid.ByName("int64")

// TestImport aborts an import. Then it shards the table under writers while the mover is killed, reverts that,
// shards it again, and finishes. No client may see half of the table, or an error that the killed process
// doesn't explain.
func TestImport(t *testing.T) {
	t.Parallel() // the test waits more than it works
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		t.Parallel()
		w := open(t, engine)
		w.stride = 100
		w.startProxies(t)
		w.makeLedger(t)
		k := w.keepers(t)
		w.planImport(t, "import-0")
		w.phase(t, "import-0", phase.Ready)
		w.order(t, "import-0", func(phase.State) phase.Event { return phase.Event{Kind: phase.Abort} })
		w.phase(t, "import-0", phase.Aborted)
		w.untouched(t)

		w.planImport(t, splitting)
		w.phase(t, splitting, phase.Ready)
		w.equalised(t, 1, "DELETE FROM shop.ledger WHERE tag = 1 ORDER BY item_id LIMIT 3", "DELETE FROM shop.note WHERE uid >= 1000 ORDER BY number LIMIT 2",
			"UPDATE shop.line SET number = 7 ORDER BY item_id LIMIT 2")
		w.otherOwners(t)
		w.misfit(t)
		w.strike(t, at, cutover.BeforePosition, killMover)
		for i, to := range []float64{100, 0, 100} {
			k.slow()
			var before begun
			if i > 0 { // else the step may be over already
				before = w.begun(t)
			}
			if i == 2 {
				w.withoutGene(t)
			}
			w.cutWhole(t, to)
			before.refused(t)
			if i == 0 { // for rows that another shard owns now
				w.equalised(t, 0, fmt.Sprintf("DELETE FROM shop.ledger WHERE tag = 1 AND item_id >= %d ORDER BY item_id LIMIT 3", firstOfS1))
				w.pastProxies(t)
			}
			k.more(t)
			t.Logf("at %v %%: an operation took %v at most", to, k.slow().Round(time.Millisecond))
		}
		w.finish(t, splitting)
		w.phase(t, splitting, phase.Done)
		k.more(t)
		k.stop(t)
		w.numbered(t)
		k.compare(t)
		w.fromOutside(t, engine)
	})
}

// untouched checks that an aborted import has changed nothing in the cluster.
func (w *world) untouched(t *testing.T) {
	t.Helper()
	c, err := declared.Current(t.Context(), w.KV)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []catalog.TableName{ledger, line, note} {
		if d, is := c.Tables[name]; is || len(c.Routes.Moves()) > 0 {
			t.Errorf("table %s is declared as %q, and there are moves %v", name, d.Words(), c.Routes.Moves())
		}
	}
	for i, want := range []int64{3, 0, 0} {
		var tables, columns int64
		db := w.Shards[i].DB(t, schema)
		if err := db.QueryRow("SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_NAME IN ('ledger', 'line', 'note')").Scan(&tables); err != nil || tables != want {
			t.Errorf("s%d has %d tables of the names, want %d; %v", i, tables, want, err)
		}
		if err := db.QueryRow("SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_NAME = 'note' AND COLUMN_NAME = ?", catalog.OwnGene).Scan(&columns); err != nil || columns != 0 {
			t.Errorf("s%d has %d columns that the import made; %v", i, columns, err)
		}
	}
}

// otherOwners lets a client give notes to other owners, whose genes are on other shards, after all rows have
// got the genes of the first owners.
func (w *world) otherOwners(t *testing.T) {
	t.Helper()
	db := client(w.Proxies[0].Addr(), false)
	defer db.Close()
	if _, err := db.Exec("UPDATE note SET uid = uid + 1000 WHERE uid BETWEEN 1000 AND ?", 1000+standing/2); err != nil {
		t.Fatal(err)
	}
}

// misfit lets a client write a row whose owner and ID have different genes, after all rows were checked. The
// table must not be sharded with it.
func (w *world) misfit(t *testing.T) {
	t.Helper()
	db := client(w.Proxies[0].Addr(), false)
	defer db.Close()
	id := idOf(1000, 77)
	if _, err := db.Exec("INSERT INTO ledger VALUES (?, 1001, 0, 0)", id); err != nil {
		t.Fatal(err)
	}
	w.cut(t, splitting, 100, 100)
	harness.Until(t, "the row is found", func() (bool, error) {
		s, err := w.Jobs.Read(t.Context(), splitting)
		return err == nil && s.Job.State.Phase == phase.Failed && strings.Contains(s.Job.State.Why, strconv.FormatInt(id, 10)), err
	})
	if _, err := db.Exec("DELETE FROM ledger WHERE item_id = ?", id); err != nil {
		t.Fatal(err)
	}
	w.order(t, splitting, func(phase.State) phase.Event { return phase.Event{Kind: phase.Resume} })
	w.arrived(t, splitting, 100)
}

// givenUp matches the reason of a step that did not find a row's gene in time. The second reason is that of a server
// that was too slow to report the row.
var givenUp = regexp.MustCompile("it is locked by another session|without a gene: context deadline exceeded")

// withoutGene inserts a row without a gene that a session locks without the proxies. The tables must not be
// sharded with it.
func (w *world) withoutGene(t *testing.T) {
	t.Helper()
	db := w.past(t)
	var tx *sql.Tx
	for gene := 0; gene >= 0; { // until the mover was not faster
		if tx != nil {
			_ = tx.Rollback()
		}
		_, err := db.Exec("UPDATE note SET " + catalog.OwnGene + " = -1 WHERE number = 1")
		if err == nil {
			tx, err = db.Begin()
		}
		if err == nil {
			err = tx.QueryRow("SELECT " + catalog.OwnGene + " FROM note WHERE number = 1 FOR UPDATE").Scan(&gene)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	defer func() { _ = tx.Rollback() }()
	w.cut(t, splitting, 100, 100)
	harness.Until(t, "the step is given up", func() (bool, error) {
		reports, err := w.Jobs.Reports(t.Context())
		return err == nil && givenUp.MatchString(reports[splitting].Trouble), err
	})
}

// numbered checks that the table's sequences continue above the numbers of the imported rows.
func (w *world) numbered(t *testing.T) {
	t.Helper()
	db := client(w.Proxies[0].Addr(), false)
	defer db.Close()
	r, err := db.Exec("INSERT INTO ledger (uid, value, tag) VALUES (1000, 0, 0)")
	if err != nil {
		t.Fatal(err)
	}
	if id, _ := r.LastInsertId(); layout.Sequence(orderid.ID{Lo: uint64(id)}).Lo <= 77 {
		t.Errorf("a new row has ID %d", id)
	}
}

// cutWhole shards the table, or makes it single, whatever it is now.
func (w *world) cutWhole(t *testing.T, to float64) {
	t.Helper()
	there := func(s phase.State) bool {
		return s.Cut == s.Genes(to) && (s.Phase == phase.Cut || s.Phase == phase.Ready)
	}
	harness.Until(t, "order to shard the table, or not", func() (bool, error) {
		s, err := w.Jobs.Read(t.Context(), splitting)
		if err != nil {
			return false, err
		}
		at := s.Job.State
		e := phase.Event{Kind: phase.CutTo, Genes: at.Genes(to), Step: at.Total}
		if to == 0 {
			e.Kind = phase.RollBack
		}
		if _, err = at.On(e); err == nil {
			w.cut(t, splitting, to, 100)
		}
		return err == nil || there(at), err
	})
	w.state(t, splitting, fmt.Sprintf("at %v %%", to), there)
}

func (w *world) planImport(t *testing.T, id string) {
	t.Helper()
	w.planImportOf(t, id, imported)
}

// planImportOf plans an import of tables of the default shard, with their declarations.
func (w *world) planImportOf(t *testing.T, id, imported string) {
	t.Helper()
	_, m := w.routes(t)
	tables, err := ops.Declarations(ops.SplitTables(imported))
	if err != nil {
		t.Fatal(err)
	}
	j, err := job.NewImport(id, "s0", m, []router.ShardName{"s0", "s1", "s2"}, tables, "the test", "", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Jobs.Create(t.Context(), j); err != nil {
		t.Fatal(err)
	}
}

// idOf returns an ID with the gene of its owner.
func idOf(uid int64, sequence uint64) int64 {
	id, err := layout.Compose(gene.OfInt(uid, gene.W16), 0, orderid.Seq(sequence))
	if err != nil {
		panic(err)
	}
	return int64(id.Lo)
}

// makeLedger creates the tables on the default shard, through a proxy, with the rows that no client changes.
func (w *world) makeLedger(t *testing.T) {
	t.Helper()
	db := client(w.Proxies[0].Addr(), false)
	defer db.Close()
	var rows, notes []string
	for i := range int64(standing) {
		rows = append(rows, fmt.Sprintf("(%d, %d, 0, 1)", idOf(1000+i, 1), 1000+i))
		notes = append(notes, fmt.Sprintf("(%d, %d)", idOf(1000+i, 1), 1000+i))
	}
	for _, query := range []string{
		"CREATE TABLE ledger (item_id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL, value BIGINT NOT NULL, tag BIGINT NOT NULL, KEY (uid))",
		"CREATE TABLE line (item_id BIGINT NOT NULL, number INT NOT NULL, PRIMARY KEY (item_id, number))",
		"CREATE TABLE note (number INT NOT NULL AUTO_INCREMENT PRIMARY KEY, item_id BIGINT NOT NULL, uid BIGINT NOT NULL," +
			" written TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), KEY (item_id))",
		"CREATE TABLE still (n INT NOT NULL PRIMARY KEY)",
		"INSERT INTO ledger VALUES " + strings.Join(rows, ", "),
		"INSERT INTO note (item_id, uid) VALUES " + strings.Join(notes, ", "),
	} {
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
}
