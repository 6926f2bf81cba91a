package e2e

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/idgen/orderid"
	"locus/idgen/segment"
	"locus/proxy"
	"locus/router/catalog"
	"locus/test/shop"
)

// lines is a log that is kept.
type lines struct {
	mu   *sync.Mutex
	text *strings.Builder
}

func newLines() lines { return lines{new(sync.Mutex), new(strings.Builder)} }

func (l lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l lines) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), what)
}

// nearTheEnd is a store in which the counters of the tables are granted almost to the end of layout int64.
func nearTheEnd(t *testing.T, left uint64, tables ...catalog.TableName) segment.KV {
	t.Helper()
	kv := shop.Segments()
	layout, err := orderid.ByName("int64")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tables {
		store := segment.NewCASStore(kv, name.String()+"/", "test", time.Now)
		for group := range 256 {
			if _, err := store.Extend(context.Background(), fmt.Sprintf("g/%05d", group), layout.MaxSequence().Lo-left); err != nil {
				t.Fatal(err)
			}
		}
	}
	return kv
}

var overflowing = shop.Options{
	Tables: []string{
		`CREATE TABLE {schema}.parcel (
			parcel_id VARBINARY(16) NOT NULL PRIMARY KEY, parcel_no VARBINARY(16) NOT NULL, sender BIGINT NOT NULL, note VARCHAR(20), KEY (parcel_no)
		) DEFAULT CHARSET utf8mb4`,
		"CREATE TABLE {schema}.piece (piece_id BIGINT NOT NULL PRIMARY KEY, parcel_id VARBINARY(16) NOT NULL, n INT NOT NULL, KEY (parcel_id)) DEFAULT CHARSET utf8mb4",
		"CREATE TABLE {schema}.letter (letter_id BIGINT NOT NULL PRIMARY KEY, sender BIGINT NOT NULL) DEFAULT CHARSET utf8mb4",
	},
	Declarations: `  {schema}.parcel:
    kind: sharded
    owner: sender
    id: {column: parcel_id, layout: int64, overflow: bytes16}
    order_number: parcel_no
  {schema}.piece:
    kind: sharded
    parent: {column: parcel_id, layout: int64, overflow: bytes16}
    id: {column: piece_id, layout: int64}
  {schema}.letter:
    kind: sharded
    owner: sender
    id: {column: letter_id, layout: int64}
`,
}

// A sequence that is used up: from 80 % on, the log has a warning. A column of both lengths continues in 16 bytes,
// and rows of either length are found by their IDs, by their order numbers and from their children. A BIGINT column
// refuses, and no sequence wraps.
func TestOverflow(t *testing.T) {
	const left = 5
	log := newLines()
	each(t, shop.Options{
		Tables: overflowing.Tables, Declarations: overflowing.Declarations, User: ", scatter: refuse",
		Options: func(o *proxy.Options) {
			o.Log = slog.New(slog.NewTextHandler(log, nil))
			o.Segments = nearTheEnd(t, left, catalog.TableName{Schema: o.Cluster, Name: "parcel"}, catalog.TableName{Schema: o.Cluster, Name: "letter"})
		},
	}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		for n := range left {
			exec(t, db, "INSERT INTO letter (sender) VALUES (42)")
			if count := number(t, db, "SELECT COUNT(*) FROM letter WHERE sender = 42"); count != int64(n+1) {
				t.Fatalf("%d letters, want %d", count, n+1)
			}
		}
		for range 2 {
			_, err := db.Exec("INSERT INTO letter (sender) VALUES (42)")
			if err == nil || !strings.Contains(err.Error(), "1467") {
				t.Fatalf("a BIGINT column whose sequence has ended: %v", err)
			}
		}
		if log.count("sequence numbers are running out") == 0 {
			t.Error("nothing in the log warns that the sequences are running out")
		}
		parcels(t, db, left)
		left := map[string]float64{}
		for _, ids := range s.Proxy.Status().IDs {
			left[ids.Table.Name+" "+ids.Layout.Name()] = ids.SequenceLeft
		}
		if left["letter int64"] != 0 || left["parcel int64"] != 0 || left["parcel bytes16"] < 0.99 || left["piece int64"] < 0.99 {
			t.Errorf("what is left of the sequences: %v", left)
		}
	})
}

// parcels sends some rows beyond the end of the sequence, as text and prepared. The user may not read all shards, so
// rows that are found were routed.
func parcels(t *testing.T, db *sql.DB, left int) {
	for n := range 2 * left {
		if n%2 == 0 {
			exec(t, db, fmt.Sprintf("INSERT INTO parcel (sender, note) VALUES (42, 'n%d')", n))
		} else if _, err := db.Exec("INSERT INTO parcel (sender, note) VALUES (?, ?)", 42, fmt.Sprintf("n%d", n)); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := db.Query("SELECT parcel_id, parcel_no, note FROM parcel WHERE sender = 42")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	type parcel struct {
		id, no []byte
		note   string
	}
	var all []parcel
	for rows.Next() {
		var p parcel
		if err := rows.Scan(&p.id, &p.no, &p.note); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if err := rows.Err(); err != nil || len(all) != 2*left {
		t.Fatalf("%d parcels, want %d (%v)", len(all), 2*left, err)
	}
	lengths := map[int]int{}
	for _, p := range all {
		lengths[len(p.id)]++
		literal := "X'" + hex.EncodeToString(p.id) + "'"
		exec(t, db, "INSERT INTO piece (parcel_id, n) VALUES ("+literal+", 1)")
		exec(t, db, "INSERT INTO piece (parcel_id, n) VALUES (?, 2)", p.id)
		for _, question := range []struct {
			sql  string
			args []any
		}{
			{"SELECT note FROM parcel WHERE parcel_id = " + literal, nil},
			{"SELECT note FROM parcel WHERE parcel_id = ?", []any{p.id}}, // in a text _binary'…'
			{"SELECT note FROM parcel WHERE parcel_id IN (?, ?)", []any{p.id, p.id}},
			{"SELECT note FROM parcel WHERE parcel_id IN (" + literal + ")", nil},
			{"SELECT note FROM parcel WHERE parcel_no = ?", []any{p.no}},
			{"SELECT note FROM parcel WHERE sender = 42 AND parcel_id = " + literal, nil},
			{"SELECT parcel.note FROM parcel JOIN piece ON piece.parcel_id = parcel.parcel_id WHERE piece.parcel_id = " + literal + " AND n = 2", nil},
		} {
			var note string
			if err := db.QueryRow(question.sql, question.args...).Scan(&note); err != nil || note != p.note {
				t.Errorf("%s: %q, %v, want %q", question.sql, note, err, p.note)
			}
		}
		result := exec(t, db, "UPDATE parcel SET note = CONCAT(note, '+') WHERE parcel_id = ?", p.id)
		if n, err := result.RowsAffected(); n != 1 || err != nil {
			t.Errorf("%s: %d rows changed, %v", literal, n, err)
		}
	}
	if lengths[8] != left || lengths[16] != left {
		t.Errorf("lengths %v, want %d of each", lengths, left)
	}
}
