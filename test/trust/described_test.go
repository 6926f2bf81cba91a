package trust

import (
	"strings"
	"testing"
)

// described are questions about how tables are built, which must not show the columns for genes.
var described = []string{
	"SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'here' ORDER BY ordinal_position",
	"SELECT column_name, Ordinal_Position,extra , `Data_Type` FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'here' ORDER BY 2",
	"SELECT COLUMN_NAME AS n, column_name x FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'here' ORDER BY ordinal_position",
	"SELECT c.column_name, C.data_type FROM information_schema.columns c WHERE c.table_schema = DATABASE() AND table_name = 'here' ORDER BY ordinal_position",
	"SELECT information_schema.columns.column_name FROM information_schema.columns WHERE information_schema.columns.table_schema = DATABASE() AND columns.table_name = 'here' ORDER BY information_schema.columns.ordinal_position",
	"SELECT columns.column_name, columns.* FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'here' ORDER BY columns.ordinal_position",
	"SELECT * FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'here' ORDER BY ordinal_position",
	"SELECT c.* FROM information_schema.COLUMNS AS c WHERE table_schema = DATABASE() AND table_name = 'here' ORDER BY ordinal_position",
	"SELECT information_schema.columns.* FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'here' ORDER BY ordinal_position",
	"SELECT UPPER(column_name), column_name IS NULL, COUNT( * ), ordinal_position+1 FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'here' GROUP BY column_name, ordinal_position ORDER BY ordinal_position",
	"SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'here' UNION SELECT index_name FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'here' ORDER BY 1",
	"SELECT index_name FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'here' UNION ALL SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'here' ORDER BY 1",
	"SELECT n FROM (SELECT column_name n FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'here') d ORDER BY 1",
	"SELECT column_name FROM (SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'here') d ORDER BY 1",
	"SELECT (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'here'), 1",
	"SELECT EXISTS (SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND column_name = 'locus_gene')",
	"WITH w AS (SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'here') SELECT column_name FROM w ORDER BY 1",
	"SELECT t.table_name, c.column_name FROM information_schema.tables t JOIN information_schema.columns c ON c.table_schema = t.table_schema AND c.table_name = t.table_name WHERE t.table_schema = DATABASE() AND t.table_name = 'here' ORDER BY 2",
	"SELECT t.table_name, column_name FROM information_schema.tables t LEFT JOIN information_schema.columns c ON c.table_schema = t.table_schema AND c.table_name = t.table_name AND c.column_name LIKE 'locus%' WHERE t.table_schema = DATABASE() AND t.table_name = 'here' ORDER BY 2",
	"SELECT index_name, column_name, seq_in_index FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'here' ORDER BY 1, 3",
	"SELECT DISTINCT data_type FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'here' OR table_name = 'none' ORDER BY 1",
	"SELECT data_type, COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'here' GROUP BY data_type HAVING COUNT(*) > 0 ORDER BY 1",
	"SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'here' ORDER BY ordinal_position LIMIT 1",
	"SELECT /* a */ column_name /* b */ , 1+1 FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'here' ORDER BY ordinal_position DESC LIMIT 1 OFFSET 1",
	"SELECT COUNT(*) FROM information_schema.columns WHERE column_name = 'locus_gene'",
	"SELECT column_name FROM information_schema.columns WHERE FALSE OR column_name = 'locus_gene'",
	"SELECT COUNT(*) > 1 FROM information_schema.columns",
	"SELECT a.column_name, b.column_name FROM information_schema.columns a, information_schema.columns b WHERE a.table_schema = DATABASE() AND b.table_schema = DATABASE() AND a.table_name = 'here' AND b.table_name = 'here' AND a.ordinal_position = b.ordinal_position ORDER BY 1",
	"SHOW COLUMNS FROM here", "SHOW COLUMNS FROM here LIKE '%o%'", "SHOW COLUMNS FROM here WHERE Field LIKE 'l%' OR field = 'note'", "SHOW FULL FIELDS IN here", "DESC here", "SHOW INDEX FROM here WHERE Seq_in_index = 1",
	"SHOW KEYS FROM here", "SHOW COLUMNS FROM seen", "SELECT column_name FROM information_schema.columns WHERE table_name = 'seen' AND table_schema = DATABASE() ORDER BY 1",
}

// describedByDerived are questions that a derived table answers, whose columns have other definitions.
var describedByDerived = []string{
	"SELECT column_name, index_name FROM information_schema.columns c LEFT JOIN information_schema.statistics s USING (table_schema, table_name, column_name) WHERE table_schema = DATABASE() AND table_name = 'here' ORDER BY 1, 2",
	"SELECT t.table_name, c.column_name, index_Name FROM information_schema.tables t LEFT JOIN (information_schema.columns c JOIN information_schema.statistics s ON s.table_name = c.table_name AND s.table_schema = c.table_schema AND s.column_name = c.column_name) ON c.table_schema = t.table_schema AND c.table_name = t.table_name WHERE t.table_schema = DATABASE() AND t.table_name = 'here' ORDER BY 2, 3",
	"SELECT (SELECT COUNT(*) > 0 FROM information_schema.columns), EXISTS (SELECT column_name FROM information_schema.columns)",
	"SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'here' UNION SELECT MAX(column_name) FROM information_schema.columns",
}

// bounded are questions of a user who may use one database.
var bounded = []string{
	"SELECT column_name, Ordinal_Position FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'here' ORDER BY 2",
	"SELECT c.column_name, UPPER(c.column_name) FROM information_schema.columns c WHERE table_schema = DATABASE() AND table_name = 'here' ORDER BY 1",
	"SELECT (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'here')",
	"SELECT table_name, column_name FROM information_schema.tables JOIN information_schema.statistics USING (table_schema, table_name) WHERE table_schema = DATABASE() AND table_name = 'here' ORDER BY 1, 2",
}

const describedTable = "CREATE TABLE here (w_id INT NOT NULL, d_id INT NOT NULL, note VARCHAR(20) DEFAULT '`locus_gene` ,', amount DECIMAL(65,30), PRIMARY KEY (w_id, d_id), KEY note (note, d_id)) COMMENT 'locus: owner=w_id'"

// Queries about tables with a gene column have the answers of a server without that column, with the same names
// and definitions of columns.
func TestDescriptionsWithoutGenes(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		x := exchange{setup: []string{describedTable, "CREATE VIEW seen AS SELECT column_name FROM information_schema.columns WHERE table_name = 'product' AND table_schema = DATABASE()"}}
		defer s.clearUp(t, &attack{after: []string{"DROP VIEW seen", "DROP TABLE here"}})
		for _, text := range x.setup {
			s.app.must(t, text)
			s.plain.must(t, text)
		}
		var informed []string
		for _, text := range described {
			if strings.HasPrefix(text, "S") && !strings.HasPrefix(text, "SHOW") {
				informed = append(informed, strings.NewReplacer("information_schema.", "", "DATABASE()", "'"+s.Schema+"'").Replace(text))
			}
		}
		s.exchanged(t,
			exchange{name: "text", say: described},
			exchange{name: "prepared", say: described, ready: true},
			exchange{name: "ANSI_QUOTES", before: []string{"SET sql_mode = 'ANSI_QUOTES'"}, say: described},
			exchange{name: "by a derived table", say: describedByDerived, values: true},
			exchange{name: "within bounds", user: "database", say: bounded, values: true},
			exchange{name: "in UTF-16", before: []string{"SET character_set_results = utf16le"}, values: true, say: described},
		)
		s.exchanged(t, exchange{name: "within information_schema", before: []string{"USE information_schema"}, say: informed})
		s.unforeseen(t) // MariaDB reports connections that opened a view, or were in another database and back
	})
}
