package e2e

import (
	"database/sql"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/idgen/cipher"
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/internal/test/servers"
	"locus/proxy"
	"locus/router/catalog"
	"locus/router/cluster"
	"locus/test/shop"
)

var hiding = shop.Options{
	Tables: []string{
		"CREATE TABLE {schema}.parcel (parcel_id BIGINT NOT NULL PRIMARY KEY, sender BIGINT NOT NULL, note VARCHAR(20), KEY (sender)) DEFAULT CHARSET utf8mb4",
		"CREATE TABLE {schema}.piece (piece_id BIGINT NOT NULL PRIMARY KEY, parcel_id BIGINT NOT NULL, n INT NOT NULL, KEY (parcel_id)) DEFAULT CHARSET utf8mb4",
		"CREATE TABLE {schema}.letter (letter_id VARBINARY(16) NOT NULL PRIMARY KEY, sender BIGINT NOT NULL, n INT NOT NULL) DEFAULT CHARSET utf8mb4",
		"CREATE TABLE {schema}.draft (sender BIGINT NOT NULL, note VARCHAR(20)) DEFAULT CHARSET utf8mb4",
	},
	Declarations: `  {schema}.parcel:
    kind: sharded
    owner: sender
    id: {column: parcel_id, layout: int64, hidden: true}
  {schema}.piece:
    kind: sharded
    parent: {column: parcel_id, layout: int64}
    id: {column: piece_id, layout: int64}
  {schema}.letter:
    kind: sharded
    owner: sender
    id: {column: letter_id, layout: int64, overflow: bytes16, hidden: true}
  {schema}.draft: {kind: single, shard: s0}
`,
	User: ", scatter: refuse",
}

func int64Layout(t *testing.T) orderid.Layout {
	t.Helper()
	l, err := orderid.ByName("int64")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// sequenceOf returns the hidden sequence of an ID, which must have the owner's gene.
func sequenceOf(t *testing.T, ring *cipher.Ring, l orderid.Layout, hidden orderid.ID, owner int64) uint64 {
	t.Helper()
	id, err := ring.Decode(l, hidden)
	if err != nil {
		t.Fatal(err)
	}
	if want := gene.OfInt(owner, l.GeneWidth()); l.Gene(hidden) != want || l.Version(hidden) != 1 || hidden == id {
		t.Errorf("ID %s of owner %d is of gene %s and key version %d, and in clear %s", hidden, owner, l.Gene(hidden), l.Version(hidden), id)
	}
	return l.Sequence(id).Lo
}

// Hidden IDs: rows are found by them, also from their children, and no driver computes IDs from the first one. The
// user may not read all shards, so rows that are found were routed.
func TestHiddenInPlace(t *testing.T) {
	each(t, hiding, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		db.SetMaxOpenConns(1)
		l := int64Layout(t)
		for n, owner := range []int64{42, 10001, 42} {
			result := exec(t, db, "INSERT INTO parcel (sender, note) VALUES (?, ?)", owner, fmt.Sprint("n", n))
			id, err := result.LastInsertId()
			if err != nil {
				t.Fatal(err)
			}
			if got := sequenceOf(t, s.Ring, l, orderid.ID{Lo: uint64(id)}, owner); got != uint64(1+n/2) {
				t.Errorf("the sequence of row %d is %d", n, got)
			}
			exec(t, db, "INSERT INTO piece (parcel_id, n) VALUES (LAST_INSERT_ID(), 1)")
			exec(t, db, "INSERT INTO piece (parcel_id, n) VALUES (?, 2)", id)
			for _, where := range []string{
				"FROM parcel WHERE parcel_id = {id}", "FROM parcel WHERE sender = {owner} AND parcel_id IN ({id})", "FROM parcel WHERE parcel_id BETWEEN {id} AND {id}",
				"FROM parcel JOIN piece USING (parcel_id) WHERE parcel.parcel_id = {id} AND n = 2", "FROM piece JOIN parcel USING (parcel_id) WHERE piece.parcel_id = {id} AND n = 1",
			} {
				var note string
				question := "SELECT note " + strings.NewReplacer("{id}", fmt.Sprint(id), "{owner}", fmt.Sprint(owner)).Replace(where)
				if err := db.QueryRow(question).Scan(&note); err != nil || note != fmt.Sprint("n", n) {
					t.Errorf("%s: %q, %v", question, note, err)
				}
			}
			exec(t, db, "UPDATE parcel SET note = CONCAT(note, '+') WHERE parcel_id = ?", id)
			if n := number(t, db, "SELECT COUNT(*) FROM parcel WHERE parcel_id = ? AND note LIKE '%+'", id); n != 1 {
				t.Errorf("%d rows were changed by their ID", n)
			}
		}
		several(t, s, db)
	})
}

// several rows in one statement, of one shard and of several.
func several(t *testing.T, s *shop.Shop, db *sql.DB) {
	for _, insert := range []struct {
		sql   string
		owner int64
		first string // the note of the row whose ID is returned
	}{
		{"INSERT INTO parcel (sender, note) VALUES (7, 'a'), (7, 'b'), (7, 'c')", 7, "a"},
		{"INSERT INTO parcel (sender, note) VALUES (0, 'd'), (1, 'e'), (0, 'f')", 0, "d"},
	} {
		result := exec(t, db, insert.sql)
		if id, err := result.LastInsertId(); id != 0 || err != nil {
			t.Errorf("%s: a driver is told %d, and would count up from it (%v)", insert.sql, id, err)
		}
		first := number(t, db, "SELECT LAST_INSERT_ID()")
		if number(t, db, "SELECT COUNT(*) FROM parcel WHERE sender = ? AND parcel_id = ? AND note = ?", insert.owner, first, insert.first) != 1 {
			t.Errorf("%s: LAST_INSERT_ID() is %d, which is not the first row's", insert.sql, first)
		}
	}
	sequences := map[uint64]bool{}
	for _, text := range rows(t, db, "SELECT parcel_id FROM parcel WHERE sender = 7") {
		id, err := int64Layout(t).Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		sequences[sequenceOf(t, s.Ring, int64Layout(t), id, 7)] = true
	}
	if len(sequences) != 3 || !sequences[1] || !sequences[2] || !sequences[3] {
		t.Errorf("the sequences of three rows are %v", sequences)
	}
}

// At the end of its sequence a hidden ID continues in 16 bytes, still hidden.
func TestHiddenInPlaceOverflows(t *testing.T) {
	const left = 3
	options := hiding
	options.Options = func(o *proxy.Options) {
		o.Segments = nearTheEnd(t, left, catalog.TableName{Schema: o.Cluster, Name: "letter"})
	}
	each(t, options, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		for n := range 2 * left {
			exec(t, db, "INSERT INTO letter (sender, n) VALUES (42, ?)", n)
		}
		found, err := db.Query("SELECT letter_id, n FROM letter WHERE sender = 42")
		if err != nil {
			t.Fatal(err)
		}
		defer found.Close()
		ids := map[int][]byte{}
		for found.Next() {
			var id []byte
			var n int
			if err := found.Scan(&id, &n); err != nil {
				t.Fatal(err)
			}
			ids[n] = id
		}
		for n := range 2 * left {
			l, want := int64Layout(t), int64Layout(t).MaxSequence().Lo-left+uint64(n)+1
			if n >= left {
				l, want = (&catalog.IDColumn{Overflow: "bytes16"}).Wide(), uint64(n-left)+1
			}
			id, err := l.FromBytes(ids[n])
			if err != nil {
				t.Fatalf("row %d has ID %x: %v", n, ids[n], err)
			}
			if got := sequenceOf(t, s.Ring, l, id, 42); got != want {
				t.Errorf("row %d has sequence %d, want %d", n, got, want)
			}
			if is := number(t, db, "SELECT n FROM letter WHERE letter_id = ?", ids[n]); is != int64(n) {
				t.Errorf("by its ID %x row %d is found, want %d", ids[n], is, n)
			}
		}
	})
}

// A table has rows with plain IDs and with hidden ones. If a key version hid IDs by another key, or stands for plain
// IDs, no ID is generated, and no row is inserted.
func TestHidingAnew(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		options := hiding
		var beside proxy.Options
		options.User, options.Options = "", func(o *proxy.Options) { beside = *o }
		s := shop.Start(t, engine, options)
		another := func(ring *cipher.Ring) *sql.DB {
			o := beside
			o.Name, o.Ring = "beside", func() *cipher.Ring { return ring }
			_, addr := shop.Serve(t, o)
			return s.DB(t, func(c *mysql.Config) { c.Addr = addr })
		}
		db := s.DB(t, nil)
		hidden := s.Cluster
		name := catalog.TableName{Schema: s.Schema, Name: "parcel"}
		declare := func(d catalog.Declaration) *cluster.Cluster {
			c := *hidden
			c.Tables = maps.Clone(c.Tables)
			c.Tables[name] = d
			return &c
		}
		inClear := hidden.Tables[name]
		inClear.ID = &catalog.IDColumn{Column: "parcel_id", Layout: "int64"}
		versions := func() []string {
			return rows(t, db, "SELECT DISTINCT parcel_id >> 42 & 31 FROM parcel WHERE sender = 42 ORDER BY 1")
		}
		exec(t, db, "INSERT INTO draft (sender, note) VALUES (42, 'q'), (42, 'q'), (10001, 'q')")
		if id, err := exec(t, db, "INSERT INTO parcel (sender, note) SELECT sender, note FROM draft").LastInsertId(); id != 0 || err != nil {
			t.Errorf("of several rows out of a table a driver is told %d, and would count up from it (%v)", id, err)
		}
		s.Apply(declare(inClear))
		until(t, "IDs are in clear", func() bool {
			exec(t, db, "INSERT INTO parcel (sender) VALUES (42)")
			return strings.Join(versions(), " ") == "0 1"
		})
		s.Apply(declare(hidden.Tables[name]))
		before := number(t, db, "SELECT COUNT(*) FROM parcel WHERE sender = 42 AND parcel_id >> 42 & 31 = 1")
		until(t, "IDs are hidden again", func() bool {
			exec(t, db, "INSERT INTO parcel (sender) VALUES (42)")
			return number(t, db, "SELECT COUNT(*) FROM parcel WHERE sender = 42 AND parcel_id >> 42 & 31 = 1") > before
		})

		other, err := cipher.Parse([]byte("current: 1\nkeys:\n  - version: 1\n    key: 2b7e151628aed2a6abf7158809cf4f3d\n"))
		if err != nil {
			t.Fatal(err)
		}
		second := another(other)
		all := number(t, db, "SELECT COUNT(*) FROM parcel WHERE sender = 42")
		_, err = second.Exec("INSERT INTO parcel (sender) VALUES (42)")
		if err == nil || !strings.Contains(err.Error(), "key version 1: IDs of it are hidden by key") || !strings.Contains(err.Error(), "no ID was issued") {
			t.Errorf("another key of the same version: %v", err)
		}
		exec(t, second, "INSERT INTO test_order (buyer_uid) VALUES (42)") // order numbers of this table don't depend on that key version
		if n := number(t, second, "SELECT COUNT(*) FROM parcel WHERE sender = 42"); n != all {
			t.Errorf("%d rows, want %d", n, all)
		}
		if _, err := another(nil).Exec("INSERT INTO parcel (sender) VALUES (42)"); err == nil || !strings.Contains(err.Error(), "no key ring to hide them with") {
			t.Errorf("without a key ring: %v", err)
		}
	})
}

// A key ring without a version that is in use: its numbers are found, and none are generated.
func TestAKeyThatIsLost(t *testing.T) {
	each(t, shop.Options{User: ", scatter: refuse"}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		id, err := int64Layout(t).Compose(gene.OfInt(42, gene.W16), 7, orderid.Seq(5))
		if err != nil {
			t.Fatal(err)
		}
		exec(t, s.Shard(t, 0), fmt.Sprintf("INSERT INTO test_order (order_id, order_no, buyer_uid, version) VALUES (%d, %d, 42, 1)", id.Lo, id.Lo+1000))
		if n := number(t, db, "SELECT order_id FROM test_order WHERE order_no = ?", id.Lo+1000); uint64(n) != id.Lo {
			t.Errorf("by its order number order %d is found, want %s", n, id)
		}
		_, err = db.Exec("INSERT INTO test_order (order_id, buyer_uid) VALUES (?, 42)", id.Lo+1)
		if err == nil || !strings.Contains(err.Error(), "key version 7 is not in the key ring, which has only 1") {
			t.Errorf("an order number under a key that is lost: %v", err)
		}
		if n := number(t, db, "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 42"); n != 1 {
			t.Errorf("%d rows, want 1", n)
		}
	})
}
