package histories

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/router"
)

// hot is one owner who has all registers, accounts and journals, and most items, and whose gene is divided by sequence.
type hot struct {
	ids map[string][]int64 // IDs of registers and accounts, by table and number
}

func newHot() *hot { return &hot{ids: map[string][]int64{}} }

const hotOwner = 42

var hotGenes = gene.NewSet(gene.Range{First: gene.OfInt(hotOwner, gene.W16), Last: gene.OfInt(hotOwner, gene.W16)})

var hotTables = []string{
	"CREATE TABLE shop.register (register_id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL, number BIGINT NOT NULL, value BIGINT NOT NULL, KEY (uid, number))",
	"CREATE TABLE shop.mark (mark_id BIGINT NOT NULL, register_id BIGINT NOT NULL, value BIGINT NOT NULL, KEY (register_id), UNIQUE KEY (mark_id))",
	"CREATE TABLE shop.item (item_id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL, value BIGINT NOT NULL, tag BIGINT NOT NULL, KEY (uid))",
	"CREATE TABLE shop.account (account_id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL, number BIGINT NOT NULL, balance BIGINT NOT NULL, KEY (uid, number))",
	"CREATE TABLE shop.journal (journal_id BIGINT NOT NULL PRIMARY KEY, transfer BIGINT NOT NULL, uid BIGINT NOT NULL, payer BIGINT NOT NULL, peer BIGINT NOT NULL," +
		" amount BIGINT NOT NULL, KEY (uid, transfer))",
}

const hotDeclarations = `
  shop.register: {kind: sharded, owner: uid, id: {column: register_id, layout: int64}}
  shop.mark: {kind: sharded, parent: {column: register_id, layout: int64}, id: {column: mark_id, layout: int64}}
  shop.account: {kind: sharded, owner: uid, id: {column: account_id, layout: int64}}
  shop.journal: {kind: sharded, owner: uid, id: {column: journal_id, layout: int64}}
  shop.item: {kind: sharded, owner: uid, id: {column: item_id, layout: int64}}
`

var hotKeys = map[string]string{
	"shop.register": "register_id", "shop.mark": "mark_id", "shop.item": "item_id", "shop.account": "account_id", "shop.journal": "journal_id",
}

// numberOf is the column that numbers the rows of a table, as owners do where there are many.
var numberOf = map[string]string{"register": "number", "account": "number", "journal": "payer"}

// fill inserts the rows that exist from the beginning.
func (h *hot) fill(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, table := range []struct {
		name, column string
		rows, value  int
	}{{"register", "value", registers, 0}, {"account", "balance", accounts, balance}} {
		rows := make([]string, table.rows)
		for i := range rows {
			rows[i] = fmt.Sprintf("(%d, %d, %d)", hotOwner, i, table.value)
		}
		if _, err := db.Exec("INSERT INTO " + table.name + " (uid, number, " + table.column + ") VALUES " + strings.Join(rows, ", ")); err != nil {
			t.Fatal(err)
		}
		h.ids[table.name] = h.read(t, db, table.name, table.rows)
	}
	rows := make([]string, registers)
	for i, id := range h.ids["register"] {
		rows[i] = fmt.Sprintf("(%d, %d)", id, i)
	}
	if _, err := db.Exec("INSERT INTO mark (register_id, value) VALUES " + strings.Join(rows, ", ")); err != nil {
		t.Fatal(err)
	}
}

func (h *hot) read(t *testing.T, db *sql.DB, table string, n int) []int64 {
	t.Helper()
	rows, err := db.Query(fmt.Sprintf("SELECT number, %s_id FROM %s WHERE uid = %d", table, table, hotOwner))
	if err != nil {
		t.Fatal(err)
	}
	list, err := pairs(rows)
	if err != nil || len(list) != n {
		t.Fatalf("%d rows of %s, of %d: %v", len(list), table, n, err)
	}
	ids := make([]int64, n)
	for _, row := range list {
		ids[row[0]] = row[1]
	}
	return ids
}

// strays returns marks that are not on the shard of their register.
func (h *hot) strays(t *testing.T, w *world) (wrong []string) {
	t.Helper()
	_, m := w.routes(t)
	marks := 0
	w.All(t, "SELECT register_id, mark_id FROM mark", func(shard int, rows *sql.Rows) error {
		var register, mark int64
		err := rows.Scan(&register, &mark)
		at := m.Shard(m.LookupRow(hotGenes.Ranges()[0].First, layout.Residue(orderid.ID{Lo: uint64(register)})))
		if marks++; at != router.ShardName(fmt.Sprintf("s%d", shard)) {
			wrong = append(wrong, fmt.Sprintf("mark %d of register %d is on s%d, and belongs to %s", mark, register, shard, at))
		}
		return err
	})
	if marks != registers {
		wrong = append(wrong, fmt.Sprintf("%d marks are there, of %d", marks, registers))
	}
	return wrong
}

// byOwner returns the condition for a row with a number, by its owner.
func (s *talk) byOwner() string {
	if s.world.hot == nil {
		return "uid = ?"
	}
	return fmt.Sprintf("uid = %d AND number = ?", hotOwner)
}

func (s *talk) numbered() string {
	if s.world.hot == nil {
		return "uid"
	}
	return "number"
}

// keyed returns a condition for a row with a number, by its owner or by its ID.
func (s *talk) keyed(table string, number int64) (where string, key int64) {
	if s.world.hot == nil || s.random.IntN(3) == 0 {
		return s.byOwner(), number
	}
	return table + "_id = ?", s.world.hot.ids[table][number]
}

// written returns a condition for a row that is changed and read on its own: by the ID if its owner's rows are
// on two shards. By the owner the change would be a transaction on both. If a shard is killed after the
// decision, it shows the old row until its branch is finished.
func (s *talk) written(table string, number int64) (where string, key int64) {
	if s.world.hot == nil {
		return s.byOwner(), number
	}
	return table + "_id = ?", s.world.hot.ids[table][number]
}

// perhapsOwned returns a condition on the owner who has all rows, or nothing for a statement on all shards.
func (s *talk) perhapsOwned() string {
	if s.world.hot == nil || s.random.IntN(2) == 0 {
		return ""
	}
	return fmt.Sprintf(" WHERE uid = %d", hotOwner)
}

// listing reads all registers, once each.
func (s *talk) listing() string {
	if s.world.hot == nil {
		return "SELECT uid, value FROM register"
	}
	switch s.random.IntN(4) {
	case 0:
		return fmt.Sprintf("SELECT r.number, r.value FROM register r JOIN mark m ON m.register_id = r.register_id WHERE r.uid = %d", hotOwner)
	case 1:
		return fmt.Sprintf("SELECT r.number, r.value FROM register r JOIN mark m ON m.register_id = r.register_id AND m.value = r.number WHERE r.uid = %d ORDER BY r.value LIMIT 1000", hotOwner)
	}
	return "SELECT number, value FROM register" + s.perhapsOwned()
}

func (s *talk) journals() string {
	if s.world.hot == nil {
		return "INSERT INTO journal (transfer, uid, peer, amount) VALUES (?, ?, ?, ?)"
	}
	return fmt.Sprintf("INSERT INTO journal (uid, transfer, payer, peer, amount) VALUES (%d, ?, ?, ?, ?)", hotOwner)
}

// buyer returns the owner of a new item.
func (s *talk) buyer() int64 {
	if s.world.hot != nil && s.random.IntN(4) > 0 {
		return hotOwner
	}
	return s.random.Int64N(1000)
}
