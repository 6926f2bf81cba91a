package stmt

import "testing"

// TestDialect checks clauses that are replaced before the parser reads a text, and texts in which their words mean something else.
func TestDialect(t *testing.T) {
	for text, reads := range map[string]bool{
		"select a from t where b sounds like 'x'":                                             true,
		"select cast(a as int), cast(b as varchar(3)), cast(c as double precision) from t":    true,
		"select cast(cast(a as integer) as inet6) from t":                                     true,
		"select group_concat(a order by b limit 2) from t":                                    true,
		"select group_concat(a order by b separator ',' limit 1, 2), json_arrayagg(a) from t": true,
		"select group_concat((select a from s limit 1) limit 2 offset 1) from t":              true,
		"select json_arrayagg(distinct a), json_arrayagg(a order by b desc) from t":           true,
		"select json_value(j, '$.a' returning signed default 0 on empty) from t":              true,
		"select json_value(null, '$.a' null on empty error on error) from t":                  true,
		"select * from t natural inner join s":                                                true,
		"select a from t lock in share mode nowait":                                           true,
		"select a from t lock in share mode wait 5":                                           true,
		"select a from t lock in share mode skip locked":                                      true,
		"create table t (a int primary key, b int default (1 + a) invisible, c char(5) ascii, d text compressed=zlib, key (b) not ignored) encrypted=no charset=default": true,
		"create table t (a int primary key, b date default (curdate() + interval 1 day) not null, c point default (point(1, 2)))":                                        true,
		"create or replace index i on t (a) ignored":                        true,
		"create unique index i on s.t wait 5 (a)":                           true,
		"create view if not exists v as select a from t":                    true,
		"create or replace view v (a) as select a from t with check option": true,
		"alter online ignore table t nowait add g point, add index (a) not ignored, drop constraint if exists c, rename index if exists a to b, algorithm=nocopy": true,
		"alter table if exists s.t wait 5 add column b int default (1 + 2) invisible":                                                                             true,
		"alter table t alter column a set invisible, alter index i ignored":                                                                                       false, // the parser reads no SET INVISIBLE
		"alter table t alter index i ignored":                                                                                                                     true,
		"alter table t alter index if exists i not ignored, alter key if exists k ignored":                                                                        true,
		"alter table t check partition all quick":                                                                                                                 true,
		"alter table t repair partition p, q extended":                                                                                                            true,
		"alter table t analyze partition all":                                                                                                                     true,
		"drop table if exists t wait 5":                                                                                                                           true,
		"drop index i on t nowait":                                                                                                                                true,
		"truncate table s.t nowait":                                                                                                                               true,
		"rename tables a to b":                                                                                                                                    true,
		"rename tables if exists a nowait to b, s.c wait 5 to s.d":                                                                                                true,
		"create or replace table t (a int)":                                                                                                                       false,
		"select a from t lock in share mode wait":                                                                                                                 false,
		"select group_concat(a limit) from t":                                                                                                                     false,
		"select 'x sounds like y' from t where sounds":                                                                                                            true,
		"alter table t add system versioning":                                                                                                                     false,
		"alter table t modify a point":                                                                                                                            false, // the type of a changed column matters
	} {
		l := lexed(text, 0)
		_, err := Parse(l)
		if (err == nil) != reads {
			t.Errorf("%s: %v", text, err)
		}
		if err == nil && len(l.laid().readable) != len(text) {
			t.Errorf("%s is read as %s", text, l.laid().readable)
		}
	}
}

// TestDialectKeepsFacts checks that the statement still has the columns and names of a replaced clause.
func TestDialectKeepsFacts(t *testing.T) {
	for _, text := range []string{
		"create table t (a int primary key, b text default (load_file('/etc/passwd')) ignored, key (a) ignored)",
		"select cast(load_file('x') as int) from t",
		"select json_arrayagg(distinct load_file('x')) from t",
	} {
		l := lexed(text, 0)
		s, err := Parse(l)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if l.Reach().Files == "" && s.Files == "" && s.Features&UnknownFunction == 0 {
			t.Errorf("%s: the file is not found: %+v", text, s)
		}
	}
	if _, s := parsed(t, "alter table t add a int invisible"); len(s.Altering.Adds) != 0 {
		t.Error("an invisible column is added as others are, which become visible")
	}
	for _, text := range []string{"alter table t wait 1 modify a int", "alter table t nowait modify a int", "alter online table t modify a int", "alter table if exists t modify a int"} {
		if _, s := parsed(t, text); s.Altering.Clauses != nil {
			t.Errorf("%s: a clause would be put in a wrong place", text)
		}
	}
	if _, s := parsed(t, "alter table t check partition p"); s.Verb != "CHECK" {
		t.Errorf("CHECK PARTITION is %s", s.Verb)
	}
}
