package newshard

import (
	"fmt"
	"strings"
	"testing"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/internal/test/servers"
)

var layout, _ = orderid.ByName("int64")

// idOf is an ID with the gene of its owner.
func idOf(owner int64, sequence uint64) int64 {
	id, err := layout.Compose(gene.OfInt(owner, gene.W16), 0, orderid.Seq(sequence))
	if err != nil {
		panic(err)
	}
	return int64(id.Lo)
}

// children are tables whose parents' IDs are wrong, each with the import and the expected error.
var children = []struct {
	name   string
	make   []string
	words  []string // of the command
	wants  []string
	passes bool
}{
	{
		"the parent numbers its rows by itself",
		[]string{
			"CREATE TABLE a_order (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, uid BIGINT NOT NULL)",
			"CREATE TABLE a_item (order_id BIGINT NOT NULL, line INT NOT NULL, PRIMARY KEY (order_id, line), FOREIGN KEY (order_id) REFERENCES a_order (id))",
			"INSERT INTO a_order (uid) VALUES (1), (2), (3)", "INSERT INTO a_item VALUES (1, 1), (2, 1), (3, 1)",
		},
		[]string{"shop.a_order", "owner=uid", "--also", "shop.a_item parent=order_id"},
		[]string{"3 rows whose order_id is no ID of a parent", "shop.a_order numbers its rows by itself in id", "ALTER TABLE `shop`.`a_item` ADD COLUMN `uid` bigint", "UPDATE `shop`.`a_item` c JOIN `shop`.`a_order` p ON p.`id` = c.`order_id` SET c.`uid` = p.`uid`", "declare owner=uid in place of parent=order_id"},
		false,
	},
	{
		"the parent is not imported",
		[]string{
			"CREATE TABLE b_order (order_id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, uid BIGINT NOT NULL)",
			"CREATE TABLE b_item (order_id BIGINT NOT NULL, line INT NOT NULL, PRIMARY KEY (order_id, line))",
			"INSERT INTO b_order (uid) VALUES (1), (2), (3)", "INSERT INTO b_item VALUES (1, 1), (2, 1), (3, 1)",
		},
		[]string{"shop.b_item", "parent=order_id"},
		[]string{"3 rows whose order_id", "shop.b_order numbers its rows by itself in order_id", "copy the column that is to be its owner into table shop.b_item"},
		false,
	},
	{
		"no table has them",
		[]string{
			"CREATE TABLE c_item (order_id BIGINT NOT NULL, line INT NOT NULL, PRIMARY KEY (order_id, line))", "INSERT INTO c_item VALUES (77001, 1), (77002, 1)",
		},
		[]string{"shop.c_item", "parent=order_id"},
		[]string{"2 rows whose order_id", "copy the parent's owner into a column of table shop.c_item"},
		false,
	},
	{
		"old rows have small numbers",
		[]string{
			"CREATE TABLE d_order (order_id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL)",
			"CREATE TABLE d_item (order_id BIGINT NOT NULL, line INT NOT NULL, PRIMARY KEY (order_id, line))",
			fmt.Sprintf("INSERT INTO d_order VALUES (%d, 1), (%d, 2)", idOf(1, 1), idOf(2, 1)), fmt.Sprintf("INSERT INTO d_item VALUES (%d, 1), (%d, 1), (7, 1), (8, 1)", idOf(1, 1), idOf(2, 1)),
		},
		[]string{"shop.d_order", "owner=uid id=order_id", "--also", "shop.d_item parent=order_id"},
		[]string{"2 rows whose order_id is no ID in shop.d_order (order_id)", `"7"/"1"`, "correct the rows whose parents are missing from shop.d_order"},
		false,
	},
	{
		"old parents have small numbers",
		[]string{
			"CREATE TABLE e_order (order_id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL)", fmt.Sprintf("INSERT INTO e_order VALUES (%d, 1), (7, 2)", idOf(1, 1)),
		},
		[]string{"shop.e_order", "owner=uid id=order_id"},
		[]string{"1 rows whose keys are of different genes", `"7"`, "leave id= out"},
		false,
	},
	{
		"IDs of another maker",
		[]string{
			"CREATE TABLE f_order (order_id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL)",
			"CREATE TABLE f_item (order_id BIGINT NOT NULL, line INT NOT NULL, PRIMARY KEY (order_id, line))",
			"INSERT INTO f_order VALUES (1790000000000000001, 1), (1790000000000000002, 2)", "INSERT INTO f_item VALUES (1790000000000000001, 1), (1790000000000000002, 1)",
		},
		[]string{"shop.f_item", "parent=order_id"},
		[]string{"2 rows whose order_id", "shop.f_order numbers its rows by itself in order_id"},
		false,
	},
	{
		"IDs of another parent",
		[]string{
			"CREATE TABLE g_order (order_id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL)",
			"CREATE TABLE g_item (order_id BIGINT NOT NULL, line INT NOT NULL, PRIMARY KEY (order_id, line))",
			fmt.Sprintf("INSERT INTO g_order VALUES (%d, 1)", idOf(1, 1)), fmt.Sprintf("INSERT INTO g_item VALUES (%d, 1)", idOf(1, 2)),
		},
		[]string{"shop.g_order", "owner=uid id=order_id", "--also", "shop.g_item parent=order_id"},
		[]string{"1 rows whose order_id is no ID in shop.g_order", "correct the rows whose parents are missing"},
		false,
	},
	{
		"another layout",
		[]string{
			"CREATE TABLE h_order (order_id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL)",
			"CREATE TABLE h_item (order_id BIGINT NOT NULL, line INT NOT NULL, PRIMARY KEY (order_id, line))",
			fmt.Sprintf("INSERT INTO h_order VALUES (%d, 1), (%d, 2)", idOf(1, 1), idOf(2, 1)), fmt.Sprintf("INSERT INTO h_item VALUES (%d, 1), (%d, 1)", idOf(1, 1), idOf(2, 1)),
		},
		[]string{"shop.h_order", "owner=uid id=order_id", "--also", "shop.h_item parent=order_id parent_layout=js53"},
		[]string{"shop.h_item"},
		false,
	},
	{
		"the owner is NULL",
		[]string{
			"CREATE TABLE i_note (n INT NOT NULL AUTO_INCREMENT PRIMARY KEY, uid BIGINT)", "INSERT INTO i_note (uid) VALUES (1), (NULL)",
		},
		[]string{"shop.i_note", "owner=uid"},
		[]string{"1 rows of no gene", `"2"`},
		false,
	},
	{
		"the owner has no letter case",
		[]string{
			"CREATE TABLE j_note (n INT NOT NULL AUTO_INCREMENT PRIMARY KEY, who VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL)", "INSERT INTO j_note (who) VALUES ('a'), ('A')",
		},
		[]string{"shop.j_note", "owner=who"},
		[]string{"makes different spellings of an owner equal"},
		false,
	},
	{
		"the gene column says otherwise",
		[]string{
			"CREATE TABLE k_note (n INT NOT NULL AUTO_INCREMENT PRIMARY KEY, uid BIGINT NOT NULL, gene INT NOT NULL)",
			fmt.Sprintf("INSERT INTO k_note (uid, gene) VALUES (1, %d), (2, %d)", gene.OfInt(1, gene.W16), gene.OfInt(1, gene.W16)),
		},
		[]string{"shop.k_note", "owner=uid gene=gene"},
		[]string{"1 rows whose keys are of different genes", `"2"`},
		false,
	},
	{
		"an order number of another gene",
		[]string{
			"CREATE TABLE l_order (order_id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL, order_no BIGINT NULL)",
			fmt.Sprintf("INSERT INTO l_order VALUES (%d, 1, %d), (%d, 2, 12)", idOf(1, 1), idOf(1, 9), idOf(2, 1)),
		},
		[]string{"shop.l_order", "owner=uid id=order_id order_no=order_no"},
		[]string{"1 rows whose keys are of different genes"},
		false,
	},
	{
		"the parent is in another schema",
		[]string{
			"CREATE TABLE other.m_order (order_id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL)",
			"CREATE TABLE m_item (order_id BIGINT NOT NULL, line INT NOT NULL, PRIMARY KEY (order_id, line))",
			fmt.Sprintf("INSERT INTO other.m_order VALUES (%d, 1), (%d, 2)", idOf(1, 1), idOf(2, 1)), fmt.Sprintf("INSERT INTO m_item VALUES (%d, 1), (5, 1)", idOf(1, 1)),
		},
		[]string{"other.m_order", "owner=uid id=order_id", "--also", "shop.m_item parent=order_id"},
		[]string{"1 rows whose order_id is no ID in other.m_order (order_id)"},
		false,
	},
	{
		"some children have lost their parents",
		[]string{
			"CREATE TABLE n_order (order_id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL)",
			"CREATE TABLE n_item (order_id BIGINT NOT NULL, line INT NOT NULL, PRIMARY KEY (order_id, line))",
			fmt.Sprintf("INSERT INTO n_order VALUES (%d, 1)", idOf(1, 1)), fmt.Sprintf("INSERT INTO n_item VALUES (%d, 1), (%d, 1)", idOf(1, 1), idOf(2, 1)),
		},
		[]string{"shop.n_order", "owner=uid id=order_id", "--also", "shop.n_item parent=order_id"},
		[]string{"no obstacles"},
		true,
	},
	{
		"the parent is sharded already",
		[]string{
			"CREATE TABLE o_order (order_id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL) COMMENT 'locus: owner=uid id=order_id'",
			"CREATE TABLE o_item (order_id BIGINT NOT NULL, line INT NOT NULL, PRIMARY KEY (order_id, line))",
			fmt.Sprintf("INSERT INTO o_order VALUES (%d, 1), (%d, 2), (%d, 3), (%d, 4)", idOf(1, 1), idOf(2, 1), idOf(3, 1), idOf(4, 1)),
			fmt.Sprintf("INSERT INTO o_item VALUES (%d, 1), (%d, 1), (%d, 1), (%d, 1)", idOf(1, 1), idOf(2, 1), idOf(3, 1), idOf(4, 1)),
		},
		[]string{"shop.o_item", "parent=order_id"},
		[]string{"no obstacles"},
		true,
	},
	{
		"the parent is sharded already, and a child is of none",
		[]string{"INSERT INTO o_item VALUES (99, 1)"},
		[]string{"shop.o_item", "parent=order_id"},
		[]string{"1 rows whose order_id is no ID in shop.o_order (order_id)"},
		false,
	},
	{
		"one row in the middle of many",
		[]string{
			"CREATE TABLE p_order (order_id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL)",
			"CREATE TABLE p_item (n INT NOT NULL AUTO_INCREMENT PRIMARY KEY, order_id BIGINT NOT NULL)",
			manyOrders(1200), manyItems(1200), "UPDATE p_item SET order_id = 4711 WHERE n = 601",
		},
		[]string{"shop.p_order", "owner=uid id=order_id", "--also", "shop.p_item parent=order_id"},
		[]string{"1 rows whose order_id is no ID in shop.o_order (order_id), shop.p_order (order_id)", `"601"`},
		false,
	},
}

func manyOrders(n int64) string {
	var rows []string
	for i := range n {
		rows = append(rows, fmt.Sprintf("(%d, %d)", idOf(i, uint64(i)+1), i))
	}
	return "INSERT INTO p_order VALUES " + strings.Join(rows, ", ")
}

func manyItems(n int64) string {
	var rows []string
	for i := range n {
		rows = append(rows, fmt.Sprintf("(%d, %d)", i+1, idOf(i, uint64(i)+1)))
	}
	return "INSERT INTO p_item VALUES " + strings.Join(rows, ", ")
}

// TestValuesThatAreNotWhatIsDeclared: an import of rows whose keys contradict the declaration is refused before it
// begins. The error names the rows and the remedy.
func TestValuesThatAreNotWhatIsDeclared(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		c := open(t, engine)
		for _, s := range c.servers[:2] {
			s.Exec(t, "CREATE DATABASE other DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
		}
		db := c.db()
		for _, of := range children {
			for _, query := range of.make {
				if _, err := db.Exec(query); err != nil {
					t.Fatalf("%s: %.200s: %v", of.name, query, err)
				}
			}
			out, err := c.Locus(append(append([]string{"import"}, of.words...), "--dry-run")...)
			if (err == nil) != of.passes {
				t.Errorf("%s: %v\n%s", of.name, err, out)
			}
			for _, want := range of.wants {
				if !strings.Contains(out, want) {
					t.Errorf("%s: nothing says %q:\n%s", of.name, want, out)
				}
			}
		}
	})
}

// TestAChildThatIsWrittenMeanwhile: if a row with an invalid parent's ID is written during an import, the tables are
// not sharded until the row is corrected.
func TestAChildThatIsWrittenMeanwhile(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		c := open(t, engine)
		db := c.db()
		for _, query := range []string{
			"CREATE TABLE q_order (order_id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL)",
			"CREATE TABLE q_item (order_id BIGINT NOT NULL, line INT NOT NULL, PRIMARY KEY (order_id, line))",
			fmt.Sprintf("INSERT INTO q_order VALUES (%d, 1), (%d, 2)", idOf(1, 1), idOf(2, 1)), fmt.Sprintf("INSERT INTO q_item VALUES (%d, 1), (%d, 1)", idOf(1, 1), idOf(2, 1)),
			"CREATE VIEW q_lines AS SELECT order_id, line FROM q_item WHERE line < 3",
			"CREATE VIEW q_whole AS SELECT o.uid, l.line FROM q_order o JOIN q_lines l USING (order_id)",
		} {
			if _, err := db.Exec(query); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
		}
		c.MustLocus("import", "shop.q_order", "owner=uid id=order_id", "--also", "shop.q_item parent=order_id")
		c.MustLocus("wait", "import-1", "--for", "ready")
		if _, err := db.Exec("INSERT INTO q_item VALUES (4711, 3)"); err != nil {
			t.Fatal(err)
		}
		c.MustLocus("cutover", "import-1", "--to", "100%", "--yes")
		if out, err := c.Locus("wait", "import-1", "--for", "cut"); err == nil {
			t.Errorf("the tables are sharded: %s", out)
		}
		out := c.MustLocus("jobs", "import-1")
		for _, want := range []string{"failed", "shop.q_item", "4711", "correct the rows whose parents are missing"} {
			if !strings.Contains(out, want) {
				t.Errorf("nothing says %q:\n%s", want, out)
			}
		}
		if got := rows(t, db, "SELECT COUNT(*) FROM q_item"); got != "\"3\" \n" {
			t.Errorf("rows: %s", got)
		}
		if _, err := db.Exec("DELETE FROM q_item WHERE order_id = 4711"); err != nil {
			t.Fatal(err)
		}
		c.MustLocus("resume", "import-1", "--yes")
		c.MustLocus("wait", "import-1", "--for", "cut")
		if got := rows(t, db, "SELECT COUNT(*) FROM q_item"); got != "\"2\" \n" {
			t.Errorf("rows: %s", got)
		}
		for _, view := range []string{"q_lines", "q_whole"} {
			if got, want := rows(t, c.servers[1].DB(t, "shop"), "SHOW CREATE VIEW "+view), rows(t, c.servers[0].DB(t, "shop"), "SHOW CREATE VIEW "+view); got != want {
				t.Errorf("view %s on s1: %s\nand on s0: %s", view, got, want)
			}
			if got := rows(t, db, "SELECT COUNT(*) FROM "+view); got != "\"2\" \n" {
				t.Errorf("view %s has %s rows", view, got)
			}
		}
	})
}

// TestADeclarationOfRowsWithoutParents: the rows of a table that is declared without an import are checked too.
func TestADeclarationOfRowsWithoutParents(t *testing.T) {
	servers.Mostly(t, servers.MySQL, func(t *testing.T, engine servers.Engine) {
		c := open(t, engine)
		for _, s := range c.servers[:2] {
			s.Exec(t, "CREATE TABLE shop.r_order (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, uid BIGINT NOT NULL)",
				"CREATE TABLE shop.r_item (order_id BIGINT NOT NULL, line INT NOT NULL, PRIMARY KEY (order_id, line), FOREIGN KEY (order_id) REFERENCES shop.r_order (id))")
		}
		c.servers[0].Exec(t, "INSERT INTO shop.r_order VALUES (1, 1), (2, 2)", "INSERT INTO shop.r_item VALUES (1, 1), (2, 1)")
		out, err := c.Locus("table", "add", "shop.r_item", "parent=order_id")
		if err == nil || !strings.Contains(out, "2 rows whose order_id is no ID of a parent") || !strings.Contains(out, "shop.r_order numbers its rows by itself") {
			t.Errorf("%v\n%s", err, out)
		}
	})
}
