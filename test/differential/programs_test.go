package differential

import (
	"strings"

	"locus/internal/test/servers"
)

// programs are the application's programs on single tables: views, also one of another view, triggers and
// functions. The triggers don't change rows that are copied to the plain server.
var programs = []string{
	"CREATE VIEW {schema}.setting_seen AS SELECT name, value FROM {schema}.setting",
	"CREATE VIEW {schema}.setting_again AS SELECT * FROM {schema}.setting_seen",
	"CREATE VIEW {schema}.visit_seen AS SELECT * FROM {schema}.visit",
	"CREATE VIEW {schema}.visit_some AS SELECT * FROM {schema}.visit_seen WHERE n IS NULL OR n <> 3",
	"CREATE VIEW {schema}.account_seen AS SELECT a.* FROM {schema}.account AS a WHERE a.small > -5 OR a.small IS NULL",
	"CREATE VIEW {schema}.line_seen (line_id, id, product, qty, price) AS SELECT line_id, id, product, qty + 0, price FROM {schema}.line UNION ALL SELECT * FROM {schema}.line WHERE line_id IS NULL",
	"CREATE FUNCTION {schema}.twice(n DECIMAL(30,2)) RETURNS DECIMAL(30,2) DETERMINISTIC NO SQL RETURN n * 2",
	"CREATE FUNCTION {schema}.set_up(k VARCHAR(64) CHARACTER SET utf8mb4) RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM setting WHERE name >= k)",
	"CREATE TRIGGER {schema}.setting_new BEFORE INSERT ON {schema}.setting FOR EACH ROW SET NEW.value = COALESCE(NEW.value, 'none')",
	"CREATE TRIGGER {schema}.setting_set BEFORE UPDATE ON {schema}.setting FOR EACH ROW SET NEW.value = LEFT(CONCAT(COALESCE(NEW.value, OLD.name), '!'), 200)",
}

// stored is the number of programs that are not triggers.
const stored = 8

// tooFar are programs that read rows of several shards. They exist on each shard.
var tooFar = []string{
	"CREATE FUNCTION {schema}.visits() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM visit)",
}

// farSeenAs are the views by which rows of several shards are read.
var farSeenAs = map[*table][]string{visit: {"visit_seen", "visit_some"}, account: {"account_seen"}, line: {"line_seen"}}

// seenAs are the views by which a table's rows are read, and changed.
var seenAs = map[*table][]string{setting: {"setting_seen", "setting_again"}}

// program defines them on both sides.
func (p *pair) program(plain *servers.Server) {
	for _, sql := range programs {
		sql = strings.ReplaceAll(sql, "{schema}", p.shop.Schema)
		p.exec(p.proxied, sql)
		plain.Exec(p.t, sql)
	}
	for _, sql := range tooFar {
		for _, server := range append(p.shop.Servers[:len(p.shop.Servers):len(p.shop.Servers)], plain) {
			server.Exec(p.t, strings.ReplaceAll(sql, "{schema}", p.shop.Schema))
		}
	}
}

// function returns a call with a value, mostly for rows of single tables.
func (g *generator) function(sc scope, name string, c column) string {
	for _, s := range sc {
		if s.table.owner != "" && !g.oneIn(12) {
			return name
		}
	}
	switch {
	case g.oneIn(20):
		return "visits()"
	case c.kind == integer || c.kind == decimal:
		return "twice(" + name + ")"
	case c.kind == text:
		return "set_up(" + name + ")"
	}
	return name
}
