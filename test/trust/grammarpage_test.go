package trust

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locus/internal/test/servers"
)

// grammarPage is the page that lists the parts of the grammar that are not answered as on one server.
const grammarPage = "../../docs/reference/compatibility.md"

// grammarReasons are the rows of the page's table, by the beginnings of their texts, with the lines of the
// golden files that belong to them. The first match counts.
var grammarReasons = []struct{ row, lines string }{
	{"`EXPLAIN`, `DESCRIBE` and `ANALYZE`", `^(EXPLAIN|DESCRIBE|DESC|ANALYZE (SELECT|FORMAT))\b`},
	{"`UPDATE` that gives a row another owner", `^UPDATE t SET id = `},
	{"`UPDATE` and `DELETE` of a view", `^(UPDATE|DELETE FROM) vw `},
	{"`UPDATE` and `DELETE` over several shards", `^(WITH .* )?(UPDATE|DELETE) `},
	{"`INSERT` with an owner", `^INSERT INTO (t|tx) \((id|k), a\) VALUES \([^@]?[^:]*, 1\)$`},
	{"`INSERT` and `REPLACE` with", `^(INSERT|REPLACE) `},
	{"`CREATE TABLE … SELECT`", `^CREATE TABLE .*\bSELECT\b|^CREATE TEMPORARY TABLE n LIKE`},
	{"`DO (SELECT …)`", `^DO \(SELECT`},
	{"`CREATE OR REPLACE TABLE`", `^CREATE OR REPLACE TABLE`},
	{"`ALTER TABLE` that renames", `RENAME y$`},
	{"A foreign key", `REFERENCES`},
	{"System versioning", `SYSTEM VERSIONING|PERIOD FOR`},
	{"Sequences", `\bsq\b`},
	{"`LIMIT ROWS EXAMINED`", `ROWS EXAMINED|QUERY EXPANSION|COLUMN_GET|FROM FIRST`},
	{"Clauses that reach the server", `DIRECTORY|CONNECTION|TABLESPACE|ROLE|RESOURCE|PASSWORD|LIBRARY|SET NAMES DEFAULT COLLATE|SET LOCAL TRANSACTION`},
	{"`HANDLER`", `^(HANDLER|CHECK VIEW|REPAIR VIEW)`},
	{"Rare clauses of definitions", `^(ALTER TABLE|CREATE TABLE|SHOW|SET STATEMENT)`},
	{"Rare clauses of queries", `^(SELECT|VALUES|WITH|SHOW)\b`},
}

// TestGrammarPage compares the page's table with the golden files. Each line has a row, each row has a line, and the codes are
// the same.
func TestGrammarPage(t *testing.T) {
	text, err := os.ReadFile(grammarPage)
	if err != nil {
		t.Fatal(err)
	}
	codes := make([]map[string]bool, len(grammarReasons))
	for _, engine := range []servers.Engine{servers.MariaDB, servers.MySQL} {
		all, _ := readGolden(t, engine)
		for line, code := range all {
			at := slices.IndexFunc(grammarReasons, func(r struct{ row, lines string }) bool { return regexp.MustCompile(r.lines).MatchString(line) })
			if at < 0 {
				t.Errorf("no row has %s: %s", code, line)
				continue
			}
			if codes[at] == nil {
				codes[at] = map[string]bool{}
			}
			codes[at][code] = true
		}
	}
	for i, r := range grammarReasons {
		_, row, found := strings.Cut(string(text), "\n| "+r.row)
		row, _, _ = strings.Cut(row, "\n")
		if !found {
			t.Errorf("%s has no row %q", grammarPage, r.row)
			continue
		}
		want := slices.Sorted(maps.Keys(codes[i]))
		want = slices.DeleteFunc(want, func(code string) bool { return code == ownPlan })
		var named []string
		for _, code := range regexp.MustCompile(`locus-(\d+)`).FindAllStringSubmatch(row, -1) {
			named = append(named, code[1])
		}
		slices.Sort(named)
		if codes[i] == nil || !slices.Equal(want, slices.Compact(named)) {
			t.Errorf("the row %q names %q, and the lines have %q", r.row, named, want)
		}
	}
}

// TestGrammarShare checks how many of the lines that a server accepts are answered as on one server.
func TestGrammarShare(t *testing.T) {
	for _, engine := range []servers.Engine{servers.MariaDB, servers.MySQL} {
		codes, accepted := readGolden(t, engine)
		if alike := accepted - len(codes); accepted < 1500 || alike*100 < accepted*leastShare {
			t.Errorf("%s: %d of %d lines are answered as on one server", engine, alike, accepted)
		}
	}
}

// leastShare is the percentage of lines that are answered as on one server.
const leastShare = 95
