package differential

import (
	"strings"

	"locus/internal/test/servers"
	"locus/router/catalog"
)

// kind is the type of a column for the generator.
type kind uint8

const (
	integer kind = iota
	decimal
	double
	day
	instant
	clock
	text   // text in a collation that ignores letter case
	binary // text in a collation that compares bytes
	enum
	long // TEXT
	bits
	raw // VARBINARY
)

type column struct {
	name string
	kind kind
	key  bool // carries a gene
}

// table describes a table for the generator.
type table struct {
	name    string
	columns []column
	primary []string
	owner   string   // the owner's column; "": none
	auto    string   // the AUTO_INCREMENT column, which the cluster numbers; also in stamped
	stamped []string // columns that the proxy fills in, so the plain server can't know their values
	version bool
	unique  string // unique together with the owner: changes of several rows depend on their order
	shards  []int  // where its rows are, each once
	ownGene bool   // the gene is in the invisible column that locus makes
}

func (t *table) column(name string) column {
	for _, c := range t.columns {
		if c.name == name {
			return c
		}
	}
	panic("table " + t.name + " has no column " + name)
}

func (t *table) has(name string) bool {
	for _, c := range t.columns {
		if c.name == name {
			return true
		}
	}
	return false
}

var everywhere = []int{0, 1, 2}

// account, visit and note are co-located by owner, line by its account's ID, member by a name, and person by
// its own number. product is global. setting is on the first shard, and rate on the second. On the shards,
// visit, person and note have an additional invisible column with the gene.
var (
	account = &table{
		name: "account", primary: []string{"id"}, owner: "owner", stamped: []string{"id", "no"}, version: true, shards: everywhere,
		columns: []column{
			{"id", integer, true},
			{"no", integer, true},
			{"owner", integer, true},
			{"version", integer, false},
			{"small", integer, false},
			{"big", integer, false},
			{"tiny", integer, false},
			{"amount", decimal, false},
			{"ratio", double, false},
			{"day", day, false},
			{"at", instant, false},
			{"span", clock, false},
			{"yr", integer, false},
			{"name", text, false},
			{"alt", text, false},
			{"code", binary, false},
			{"kind", enum, false},
			{"tags", enum, false},
			{"note", long, false},
			{"flag", bits, false},
			{"raw", raw, false},
		},
	}
	visit = &table{
		name: "visit", primary: []string{"owner", "n"}, owner: "owner", version: true, shards: everywhere, ownGene: true,
		columns: []column{
			{"owner", integer, true},
			{"n", integer, false},
			{"version", integer, false},
			{"small", integer, false},
			{"name", text, false},
			{"amount", decimal, false},
		},
	}
	line = &table{
		name: "line", primary: []string{"line_id"}, owner: "id", stamped: []string{"line_id"}, shards: everywhere,
		columns: []column{
			{"line_id", integer, true},
			{"id", integer, true},
			{"product", integer, false},
			{"qty", integer, false},
			{"price", decimal, false},
		},
	}
	member = &table{
		name: "member", primary: []string{"id"}, owner: "who", unique: "n", stamped: []string{"id", "gene"}, shards: everywhere,
		columns: []column{
			{"id", integer, true},
			{"gene", integer, true},
			{"who", binary, true},
			{"n", integer, false},
			{"small", integer, false},
			{"name", text, false},
			{"day", day, false},
		},
	}
	person = &table{
		name: "person", primary: []string{"id"}, owner: "id", auto: "id", stamped: []string{"id"}, shards: everywhere, ownGene: true,
		columns: []column{
			{"id", integer, true},
			{"name", text, false},
			{"small", integer, false},
			{"day", day, false},
		},
	}
	note = &table{
		name: "note", primary: []string{"n"}, owner: "owner", auto: "n", stamped: []string{"n"}, shards: everywhere, ownGene: true,
		columns: []column{
			{"n", integer, false},
			{"owner", integer, true},
			{"small", integer, false},
			{"name", text, false},
			{"amount", decimal, false},
		},
	}
	product = &table{
		name: "product", primary: []string{"product_id"}, shards: []int{0},
		columns: []column{{"product_id", integer, false}, {"name", text, false}, {"price", decimal, false}},
	}
	setting = &table{
		name: "setting", primary: []string{"name"}, shards: []int{0},
		columns: []column{{"name", text, false}, {"value", text, false}},
	}
	rate = &table{
		name: "rate", primary: []string{"k"}, shards: []int{1},
		columns: []column{{"k", binary, false}, {"small", integer, false}, {"amount", decimal, false}},
	}
	tables  = []*table{account, visit, line, member, product, setting, rate, person, note}
	sharded = []*table{account, visit, line, member, person, note}
)

// definitions are the tables in addition to the shop's. Text in brackets is only for the plain server, where no proxy stamps
// the rows.
var definitions = []string{
	`CREATE TABLE {schema}.account (
		id BIGINT NOT NULL PRIMARY KEY[ AUTO_INCREMENT], no BIGINT NOT NULL[ DEFAULT 0], owner BIGINT NOT NULL, version INT NOT NULL[ DEFAULT 1],
		small SMALLINT, big BIGINT UNSIGNED, tiny TINYINT UNSIGNED, amount DECIMAL(12,2), ratio DOUBLE,
		day DATE, at DATETIME(3), span TIME, yr YEAR,
		name VARCHAR(40) COLLATE utf8mb4_general_ci, alt VARCHAR(40) COLLATE {collation}, code VARCHAR(20) COLLATE utf8mb4_bin,
		kind ENUM('z','b','a'), tags SET('x','y','z'), note TEXT COLLATE utf8mb4_general_ci, flag BIT(3), raw VARBINARY(16),
		KEY (owner), KEY (small), KEY (no)
	) DEFAULT CHARSET utf8mb4`,
	`CREATE TABLE {schema}.visit (
		owner BIGINT NOT NULL, n INT NOT NULL, version INT NOT NULL[ DEFAULT 1],
		small SMALLINT, name VARCHAR(40) COLLATE utf8mb4_general_ci, amount DECIMAL(12,2) DEFAULT 1.5, PRIMARY KEY (owner, n){gene}
	) DEFAULT CHARSET utf8mb4`,
	`CREATE TABLE {schema}.line (
		line_id BIGINT NOT NULL PRIMARY KEY[ AUTO_INCREMENT], id BIGINT NOT NULL, product INT, qty INT DEFAULT 1, price DECIMAL(12,2), KEY (id)
	) DEFAULT CHARSET utf8mb4`,
	`CREATE TABLE {schema}.member (
		id BIGINT NOT NULL PRIMARY KEY[ AUTO_INCREMENT], gene INT NOT NULL[ DEFAULT 0], who VARCHAR(40) COLLATE utf8mb4_bin NOT NULL, n INT, small SMALLINT,
		name VARCHAR(40) COLLATE utf8mb4_general_ci, day DATE, UNIQUE KEY (who, n)
	) DEFAULT CHARSET utf8mb4`,
	`CREATE TABLE {schema}.person (
		id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) COLLATE utf8mb4_general_ci, small SMALLINT, day DATE{gene}
	) DEFAULT CHARSET utf8mb4`,
	`CREATE TABLE {schema}.note (
		n BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, owner BIGINT NOT NULL, small SMALLINT DEFAULT 3,
		name VARCHAR(40) COLLATE utf8mb4_general_ci, amount DECIMAL(12,2), KEY (owner){gene}
	) DEFAULT CHARSET utf8mb4`,
	`CREATE TABLE {schema}.kinds (
		owner BIGINT NOT NULL, gene INT NOT NULL[ DEFAULT 0], n INT NOT NULL,
		i8 TINYINT, u16 SMALLINT UNSIGNED ZEROFILL, i24 MEDIUMINT, u64 BIGINT UNSIGNED, de DECIMAL(38,12), fl FLOAT, fd FLOAT(9,3), db DOUBLE, dd DOUBLE(12,4),
		bi BIT(64), b1 BIT(1), yr YEAR, dt DATE, dn DATE NOT NULL, tm TIME(6), d0 DATETIME, d6 DATETIME(6), ts TIMESTAMP NULL, t6 TIMESTAMP(6) NULL,
		ch CHAR(8) CHARACTER SET latin1, vc VARCHAR(30) COLLATE {collation}, vb VARCHAR(30) COLLATE utf8mb4_bin, u2 VARCHAR(20) CHARACTER SET utf16, sj VARCHAR(20) CHARACTER SET sjis,
		bn BINARY(6), vn VARBINARY(20), tx TEXT CHARACTER SET utf8mb4, lt LONGTEXT CHARACTER SET latin1, bl LONGBLOB, js JSON, ge GEOMETRY,
		en ENUM('z','b','ä') CHARACTER SET utf8mb4, st SET('x','y','z'), ga INT GENERATED ALWAYS AS (n * 2) STORED, gv INT GENERATED ALWAYS AS (n + 1) VIRTUAL,
		PRIMARY KEY (owner, n)
	) DEFAULT CHARSET utf8mb4`,
	`CREATE TABLE {schema}.rate (k VARCHAR(20) COLLATE utf8mb4_bin NOT NULL PRIMARY KEY, small SMALLINT, amount DECIMAL(12,2)) DEFAULT CHARSET utf8mb4`,
}

const declarations = `  {schema}.account:
    kind: sharded
    owner: owner
    id: {column: id, layout: int64}
    order_number: no
    version: version
  {schema}.visit:
    kind: sharded
    owner: owner
    version: version
  {schema}.person:
    kind: sharded
    owner: id
  {schema}.note:
    kind: sharded
    owner: owner
  {schema}.line:
    kind: sharded
    parent: {column: id, layout: int64}
    id: {column: line_id, layout: int64}
  {schema}.member:
    kind: sharded
    owner: who
    id: {column: id, layout: int64}
    gene: gene
  {schema}.kinds:
    kind: sharded
    owner: owner
    gene: gene
  {schema}.rate: {kind: single, shard: s1}
`

// unpadded is, for each engine, a collation without letter case in which
// trailing spaces count.
var unpadded = map[servers.Engine]string{
	servers.MariaDB: "utf8mb4_unicode_nopad_ci",
	servers.MySQL:   "utf8mb4_0900_ai_ci",
}

// forShards and forPlain return the definitions for a shard and for the plain server.
func forShards(engine servers.Engine) []string {
	return define(engine, ", "+catalog.OwnGeneDefinition, func(s string) string { return "" })
}

func forPlain(engine servers.Engine) []string {
	return define(engine, "", func(s string) string { return s })
}

func define(engine servers.Engine, gene string, bracketed func(string) string) (out []string) {
	for _, sql := range definitions {
		sql = strings.NewReplacer("{collation}", unpadded[engine], "{gene}", gene).Replace(sql)
		for {
			from := strings.IndexByte(sql, '[')
			if from < 0 {
				break
			}
			to := strings.IndexByte(sql, ']')
			sql = sql[:from] + bracketed(sql[from+1:to]) + sql[to+1:]
		}
		out = append(out, sql)
	}
	return out
}
