package stmt

import "testing"

// TestColumnTypes checks definitions of tables with types and clauses that the parser doesn't support.
func TestColumnTypes(t *testing.T) {
	for _, text := range []string{
		"create table t (a bigint primary key, g point) comment 'locus: owner=a'",
		"create table if not exists s.`t` (a int, g geometry not null, p POLYGON, l linestring default null, mp multipoint, ml multilinestring, mpo multipolygon, gc geometrycollection, spatial key (g), spatial (p), spatial index point (l)) comment 'x'",
		"create table t (a int, u uuid not null default uuid(), i inet6, j inet4) comment 'x'",
		"create table t (a int, b int as (a + 1) persistent, c int generated always as (a * (2 + 1)) persistent comment 'persistent') comment 'x'",
		"create table t (a int, g point not null srid 4326, h point ref_system_id=4326, i int invisible, j int not null invisible default 5) comment 'x'",
	} {
		l, s := parsed(t, text)
		if s.Kind != DDL || s.Features&MakesTable == 0 || s.Comment == nil || s.DefinitionsEnd == nil {
			t.Errorf("%s: kind %d, features %b, comment %v", text, s.Kind, s.Features, s.Comment)
			continue
		}
		end := l.Offset(*s.DefinitionsEnd)
		if rest := text[end:]; rest != ") comment 'x'" && rest != ") comment 'locus: owner=a'" {
			t.Errorf("%s: its definitions end before %s", text, rest)
		}
		if len(l.laid().readable) != len(text) {
			t.Errorf("%s is read as %s", text, l.laid().readable)
		}
	}
}

// TestNoColumnTypes checks definitions that the parser still can't read.
func TestNoColumnTypes(t *testing.T) {
	for text, versions := range map[string]bool{
		"create table t (a int) comment 'x' with system versioning":       true,
		"create table t (a int) with /* x */ System Versioning":           true,
		"alter table t add column g point":                                false,
		"create table t (a int, g point(5)) comment 'system versioning'":  false,
		"create table t (a int, g nosuchtype)":                            false,
		"create table t (a int) persistent":                               false,
		"create view v (a point) as select 1":                             false,
		"create procedure p (a point) begin end; create table t (a uuid)": false,
	} {
		l := lexed(text, 0)
		if s, err := Parse(l); err == nil && s.Features&MakesTable != 0 {
			t.Errorf("%s was read", text)
		}
		if l.Versions() != versions {
			t.Errorf("%s: versions %v", text, !versions)
		}
	}
}
