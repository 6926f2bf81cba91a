package stmt

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func parsed(t *testing.T, text string) (*Lexed, *Statement) {
	t.Helper()
	l := lexed(text, 0)
	s, err := Parse(l)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return l, s
}

// picture shows the blocks of a statement, one to a line.
func picture(s *Statement) string {
	var b strings.Builder
	for i, block := range s.Blocks {
		fmt.Fprintf(&b, "%d", i)
		for j, outer := range s.Blocks {
			if block.Parent == outer {
				fmt.Fprintf(&b, " in %d", j)
			}
		}
		b.WriteByte(':')
		for _, t := range block.Tables {
			name := t.Name
			if t.Schema != "" {
				name = t.Schema + "." + name
			}
			if t.Derived {
				name = "(" + name + ")"
			}
			fmt.Fprintf(&b, " %s", name)
			if t.Alias != t.Name {
				fmt.Fprintf(&b, " %s", t.Alias)
			}
			if t.Nullable {
				b.WriteByte('?')
			}
		}
		if block.Where != nil {
			fmt.Fprintf(&b, " | %s", tree_(block.Where))
		}
		for _, j := range block.Joins {
			fmt.Fprintf(&b, " | on[%d:%d] %s", j.First, j.Last, tree_(j.On))
		}
		for _, m := range block.Merged {
			fmt.Fprintf(&b, " | %s is %s's of %s", m.Name, m.Alias, strings.Join(m.Tables, "+"))
		}
		for _, f := range []struct {
			set  bool
			name string
		}{{block.Natural, "natural"}, {block.Using, "using"}, {block.Braced, "braced"}, {block.Distinct, "distinct"}, {block.Grouped, "grouped"}, {block.Having, "having"}} {
			if f.set {
				b.WriteString(" " + f.name)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func column(c ColumnRef) string {
	return strings.TrimPrefix(strings.TrimPrefix(c.Schema+"."+c.Table+"."+c.Name, "."), ".")
}

func operandText(o Operand) string {
	text := "?"
	switch {
	case o.Slot >= 0:
		text = fmt.Sprintf("$%d", o.Slot)
	case o.InsertID:
		text = "insert-id"
	case o.Variable != "":
		text = "@" + o.Variable
	case o.Const.Kind != Unknown:
		text = o.Const.String()
	}
	if o.Negative {
		return "-" + text
	}
	return text
}

func tree_(c *Condition) string {
	switch c.Kind {
	case And, Or:
		var args []string
		for _, a := range c.Args {
			args = append(args, tree_(a))
		}
		return map[ConditionKind]string{And: "and", Or: "or"}[c.Kind] + "(" + strings.Join(args, ", ") + ")"
	case Join:
		return column(c.Column) + sign(c) + column(c.Other)
	case Within:
		return column(c.Column) + fmt.Sprintf(" within field %d", c.Field)
	case Equal:
		var ops []string
		for _, o := range c.Operands {
			ops = append(ops, operandText(o))
		}
		return column(c.Column) + sign(c) + strings.Join(ops, ",")
	case Between:
		low, high := "", ""
		if c.Low != nil {
			low = operandText(*c.Low)
		}
		if c.High != nil {
			high = operandText(*c.High)
		}
		return column(c.Column) + " in [" + low + " " + high + "]"
	case Opaque:
	}
	return "*"
}

func sign(c *Condition) string {
	if c.InRows {
		return "=in-rows="
	}
	if c.NullSafe {
		return "<=>"
	}
	return "="
}

func TestBlocks(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"select 1", "0:\n"},
		{"select * from a where x = 1 and (y = 2 or z in (3, 4))", "0: a | and(x=$0, or(y=$1, z=$2))\n"},
		{"select * from a where not x = 1", "0: a | *\n"},
		{"select * from a where x = 1 xor y = 2", "0: a | *\n"},
		{"select * from a where x != 1 or x is null or x like '1' or x not in (1) or x + 1 = 2", "0: a | or(or(or(or(*, *), *), *), *)\n"},
		{"select * from a where x = 1 is true", "0: a | *\n"},
		{"select * from a where 1 = x and -2 <=> y", "0: a | and(x=$0, y<=>-$1)\n"},
		{"select * from a where x = +1 and y = - -2 and z = -(3) and w = +'4'", "0: a | and(and(and(x=$0, y=?), z=-$2), w=$3)\n"},
		{"select * from a where x = null and y = true and z = default(z)", "0: a | and(and(x=NULL, y=1), z=?)\n"},
		{"select * from a where x = 'a' 'b' and y = 'c' /* n */ 'd' and z = 'e'", "0: a | and(and(x=?, y=?), z=$5)\n"},
		{"select * from a where x = _utf8mb4'a' and y = N'b' and z = 'c' collate utf8mb4_bin and date'2020-01-01' = d", "0: a | and(and(and(x=$0, y=$1), z=?), d=?)\n"},
		{"select * from a where x = _binary'a' and y = _koi8r'b' and z = _utf8mb4 X'41'", "0: a | and(and(x=$0, y=?), z=$2)\n"},
		{"select * from a where x between 1 and ? and y > 2 and 3 >= z and w not between 1 and 2", "0: a | and(and(and(x in [$0 $1], y in [$2 ]), z in [ $3]), *)\n"},
		{"select * from a where (x, y) = (1, 2)", "0: a | and(x=$0, y=$1)\n"},
		{"select * from a where (x, y) in ((1, 2), (3, 4))", "0: a | or(and(x=in-rows=$0, y=in-rows=$1), and(x=in-rows=$2, y=in-rows=$3))\n"},
		{"select * from a where (x, y) > (1, 2) or (x, y) in (select 1, 2)", "0: a | or(*, and(x within field 0, y within field 1))\n1 in 0:\n"},
		{"select * from a where x = last_insert_id() and y = last_insert_id(5) and z = @V and w = @@v", "0: a | and(and(and(x=insert-id, y=?), z=@v), w=?)\n"},
		{"select * from a where x in (1, -2, y, 'a', null)", "0: a | x=$0,-$1,?,$2,NULL\n"},

		{"select * from a, b where a.x = b.x", "0: a b | a.x=b.x\n"},
		{"select * from s.a p join b q on p.x = q.x and p.y = 1", "0: s.a p b q | and(p.x=q.x, p.y=$0)\n"},
		{"select * from a left join b on a.x = b.x where a.y = 1", "0: a b? | a.y=$0 | on[1:2] a.x=b.x\n"},
		{"select * from a right join b on a.x = b.x", "0: a? b | on[0:1] a.x=b.x\n"},
		{"select * from a left join (b join c on b.x = c.x) on a.x = b.x", "0: a b? c? | on[1:3] b.x=c.x | on[1:3] a.x=b.x\n"},
		{"select * from (a left join b on a.x = b.x) join c on b.y = c.y", "0: a b? c | b.y=c.y | on[1:2] a.x=b.x\n"},
		{"select * from a natural join b", "0: a b natural\n"},
		{"select * from a join b using (x)", "0: a b | a.x=b.x | x is a's of a+b\n"},
		{"select * from a left join b using (x) where x = 1", "0: a b? | x=$0 | on[1:2] a.x=b.x | x is a's of a+b\n"},
		{"select * from a right join b using (x)", "0: a? b | on[0:1] a.x=b.x | x is b's of a+b\n"},
		{"select * from a join b using (x) join c using (x)", "0: a b c | and(a.x=b.x, a.x=c.x) | x is a's of a+b | x is a's of a+b+c\n"},
		{"select * from a join b on a.y = b.y join c using (x)", "0: a b c | a.y=b.y using\n"},
		{"select * from (a join b) join c", "0: a b c\n"},
		{"select * from a straight_join b on a.x = b.x", "0: a b | a.x=b.x\n"},

		{"select * from (select * from a where x = 1) d where d.y = 2", "0: () d | d.y=$1\n1: a | x=$0\n"},
		{"select * from o, lateral (select * from a where a.x = o.x) d", "0: o () d\n1 in 0: a | a.x=o.x\n"},
		{"select * from o where exists (select 1 from a, (select * from b where b.x = o.x) d)", "0: o | *\n1 in 0: a () d\n2 in 0: b | b.x=o.x\n"},
		{"select (select 1 from a) from b order by (select 2 from c)", "0: b\n1 in 0: a\n2 in 0: c\n"},
		{"select * from a join b on a.x in (select x from c) where 1", "0: a b | and(a.x within field 0, *)\n1 in 0: c\n"},
		{"select * from (a join b on exists (select 1 from c))", "0: a b | *\n1 in 0: c\n"},
		{"select 1 from a union select 2 from b order by (select 3 from c)", "0: a\n1: b\n2: c\n"},
		{"(select 1 from a) union all (select 2 from b limit 1)", "0: a\n1: b\n"},
		{"(select * from a limit 5)", "0: a braced\n"},
		{"select * from a where x = any (select y from b) group by z having exists (select 1 from c)", "0: a | * grouped having\n1 in 0: b\n2 in 0: c\n"},

		// A name of WITH hides a table where it is visible, and nowhere else.
		{"with a as (select * from b) select * from a", "0: (a)\n1: b\n"},
		{"with a as (select * from a) select * from a", "0: (a)\n1: a\n"},
		{"with a as (select 1), b as (select * from a) select * from b, s.a", "0: (b) s.a\n1:\n2: (a)\n"},
		{"with b as (select * from a), a as (select 1) select * from a, b", "0: (a) (b)\n1: a\n2:\n"},
		{"with recursive a as (select 1 union all select x from a) select * from a", "0: (a)\n1:\n2: (a)\n"},
		{"select * from (with a as (select 1) select * from a) d, a", "0: () d a\n1: (a)\n2:\n"},
		{"select * from a where x in (with a as (select 1) select * from a)", "0: a | x within field 0\n1 in 0: (a)\n2 in 0:\n"},
		{"with a as (select 1) update b, a set b.x = 1 where b.x = (select max(x) from a)", "0: b (a) | b.x=?\n1:\n2 in 0: (a)\n"},
		{"with a as (select 1) delete from b where x in (select * from a)", "0: b | x within field 0\n1:\n2 in 0: (a)\n"},

		{"update a set x = (select 1 from b) where y = 1", "0: a | y=$1\n1 in 0: b\n"},
		{"delete a from a join b on a.x = b.x where a.y = 1", "0: a b | and(a.x=b.x, a.y=$0)\n"},
		{"insert into a select * from b where x = 1", "0: b | x=$0\n"},
		{"insert into a values ((select 1 from b)) on duplicate key update x = (select 2 from c)", "0: b\n1: c\n"},
		{"insert into a set x = (select 1 from b)", "0: b\n"},
	} {
		_, s := parsed(t, c.text)
		if got := picture(s); got != c.want {
			t.Errorf("%s\n%swant\n%s", c.text, got, c.want)
		}
	}
}

func TestRefusedReadings(t *testing.T) {
	for _, text := range []string{
		"with A as (select 1) select * from a", // MariaDB reads one table here, and MySQL another
		"with recursive b as (select * from a), a as (select 1) select * from b",
		"select 1; select 2",
		"selec 1",
		"DELETE FROM t WHER id = 1",
		"",
	} {
		_, err := Parse(lexed(text, 0))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}

// TestLongTexts: a text is as long to the parser as its key.
func TestLongTexts(t *testing.T) {
	rows := "insert into t values (1, 'a')" + strings.Repeat(", (2, NULL), (-3, 'b')", 100_000)
	list := "select * from t where x in (1" + strings.Repeat(", 2", 100_000) + ")"
	deep := "select -" + strings.Repeat("9", 10_000) + ".5"
	for _, text := range []string{rows, list, deep} {
		l, _ := parsed(t, text)
		if len(l.Key) > 60 {
			t.Errorf("%.40s: a key of %d bytes", text, len(l.Key))
		}
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct{ text, count, offset, clause string }{
		{"select * from a limit 5", "5", "", "limit 5"},
		{"select * from a LIMIT 5, 10 for update", "10", "5", "LIMIT 5, 10"},
		{"select * from a limit 10 offset 5", "10", "5", "limit 10 offset 5"},
		{"select * from a limit ? offset ?", "?", "?", "limit ? offset ?"},
		{"select * from a limit /* n */ 10 /* o */ offset -- p\n 5", "10", "5", "limit /* n */ 10 /* o */ offset -- p\n 5"},
		{"select * from a limit 3 /* , */ offset 4", "3", "4", "limit 3 /* , */ offset 4"},
		{"select a.limit from a where x = 7 limit 1", "1", "", "limit 1"},
		{"select * from a where x in (select 1 from b limit 9) limit 1", "1", "", "limit 1"},
		{"delete from a where x = 7 limit 3", "3", "", "limit 3"},
		{"(select * from a limit 5)", "unplaced", "", ""},
	} {
		l, s := parsed(t, c.text)
		limit := s.Blocks[0].Limit
		if limit.Unplaced {
			if c.count != "unplaced" {
				t.Errorf("%s: not placed", c.text)
			}
			continue
		}
		literal := func(o Operand) string {
			at := l.Literals[l.Slots[o.Slot].First]
			return string(l.Text[at.Start:at.End])
		}
		offset := ""
		if limit.Offset != nil {
			offset = literal(*limit.Offset)
		}
		if clause := c.text[l.Offset(limit.Start):l.Offset(limit.End)]; literal(limit.Count) != c.count || offset != c.offset || clause != c.clause {
			t.Errorf("%s: count %s, offset %s, clause %q", c.text, literal(limit.Count), offset, clause)
		}
	}
}

// TestPlaces marks the places of a text that splices go to.
func TestPlaces(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"select a, b from t", "select a, b <FROM>from t"},
		{"select a.from, (select 1 from x) from t", "select a.from, (select 1 from x) <FROM>from t"},
		{"select extract(year from d)from t", "select extract(year from d)<FROM>from t"},
		{"(select a from t)", "(select a from t)"},
		{"update t set a = 1", "update t set a = 1<SET>"},
		{"update t set a = 1 ; ", "update t set a = 1<SET> ; "},
		{"update t set a = 1 -- note", "update t set a = 1<SET> -- note"},
		{"update t set a = 1 /* n */ -- note\n", "update t set a = 1<SET> /* n */ -- note\n"},
		{"update t set a = '-- no'", "update t set a = '-- no'<SET>"},
		{"update t set a = 1. where b = 2", "update t set a = 1. <SET>where b = 2"},
		{"update t set t.order = 5, t . where = 6 where b = 2", "update t set t.order = 5, t . where = 6 <SET>where b = 2"},
		{"update t set a = (select 1 from x where 1 limit 1) order by b", "update t set a = (select 1 from x where 1 limit 1) <SET>order by b"},
		{"update t set `where` = 1, a = 2 limit 3", "update t set `where` = 1, a = 2 <SET>limit 3"},
		{"insert into t (a, b) values (1, 2)", "insert into t (a, b<LIST>) values (1, 2)<END>"},
		{"insert into t(`a)`,b)values(1,2),(3,4) # x", "insert into t(`a)`,b<LIST>)values(1,2),(3,4)<END> # x"},
		{"insert into t values (1, 2)", "insert into t values (1, 2)<END>"},
		{"insert into t () values ()", "insert into t (<LIST>) values ()<END>"},
		{"insert into value (a) values (1)", "insert into value (a<LIST>) values (1)<END>"},
		{"insert /*+ SET_VAR(a=1) */ into t (a) values (1)", "insert /*+ SET_VAR(a=1) */ into t (a<LIST>) values (1)<END>"},
		{"insert into t set a = 1, b = 2", "insert into t set<SETS> a = 1, b = 2<END>"},
		{"insert into t (a) values (1) on duplicate key update a = 2 -- x\n;", "insert into t (a<LIST>) values (1) on duplicate key update a = 2<END> -- x\n;"},
		{"insert into t (a) select 1", "insert into t (a<LIST>) select 1<END>"},
		{"insert into t (select 1)", "insert into t (select 1)<END>"},
	} {
		l, s := parsed(t, c.text)
		marks := map[int]string{}
		if len(s.Blocks) > 0 && s.Blocks[0].HasFrom && s.Kind == Select {
			marks[l.Offset(s.Blocks[0].From)] = "<FROM>"
		}
		if s.Kind == Update {
			marks[l.Offset(s.SetClause)] = "<SET>"
		}
		if in := s.Insert; in != nil {
			marks[l.Offset(in.End)] = "<END>"
			if in.HasList {
				marks[l.Offset(in.ColumnsEnd)] = "<LIST>"
			}
			if in.Set != nil {
				marks[l.Offset(in.SetStart)] = "<SETS>"
			}
		}
		var b strings.Builder
		for i := range len(c.text) + 1 {
			b.WriteString(marks[i])
			if i < len(c.text) {
				b.WriteByte(c.text[i])
			}
		}
		if b.String() != c.want {
			t.Errorf("got  %s\nwant %s", b.String(), c.want)
		}
	}
}

func TestFeatures(t *testing.T) {
	names := map[Feature]string{
		ReadsUserVariable: "reads-var", SetsUserVariable: "sets-var", ReadsInsertID: "reads-id", SetsInsertID: "sets-id", ReadsRowCount: "row-count",
		ReadsConnectionID: "connection", NamedLock: "lock", ReadsNamedLock: "reads-lock", CalcFoundRows: "calc", SwitchesKeys: "keys", Locking: "locking", IntoTarget: "into", Union: "union", With: "with",
		Windows: "windows", TemporaryTable: "temporary", AndChain: "chain",
		Release: "release", Limited: "limited", Program: "program", ReadsClock: "clock", Volatile: "volatile", UnknownFunction: "unknown", OneServer: "server", Scored: "scored",
	}
	for text, want := range map[string]string{
		"create procedure p() begin select 1; end": "program",
		"select @a": "reads-var", "delete from t limit 5": "limited", "select * from (select 1 limit 1) d": "limited", "select @a := 1": "sets-var", "select last_insert_id()": "reads-id volatile",
		"select last_insert_id(x) from t": "reads-id sets-id volatile", "select @@last_insert_id": "reads-id volatile",
		"select sql_calc_found_rows * from t": "calc", "select is_free_lock('a')": "reads-lock volatile", "alter table t disable keys": "keys", "select 1 into @a, @`b`": "sets-var", "select found_rows()": "row-count volatile",
		"select connection_id()": "connection volatile", "select get_lock('a', 1)": "lock volatile",
		"select * from t for update": "locking", "select * from t lock in share mode": "locking", "select 1 union select 2": "union",
		"with a as (select 1) select * from a": "with", "select rank() over (order by a) from t": "windows",
		"create temporary table t (a int)": "temporary", "drop temporary table t": "temporary",
		"commit and chain": "chain", "rollback release": "release",
		"select now(), unix_timestamp()": "clock", "select unix_timestamp(a) from t": "", "select rand()": "volatile",
		"select rand(1)": "volatile server", "select uuid_short()": "volatile server", "select @@server_id": "volatile server", "select rownum from t": "",
		"select match (a) against ('x') from t": "scored", "select 1 from t where (match (a) against ('x')) > 1": "scored", "select 1 from t where match (a) against ('x') and not match (b) against ('y')": "",
		"select 1 from t where match (a) against ('x') limit 1": "limited scored", "select 1 from t where match (a) against ('x' in boolean mode) limit 1": "limited", "select 1 from t where match (a) against ('x' with query expansion)": "scored",
		"select 1 from t where match (a) against ('x') order by b limit 1": "limited", "select 1 from t join u on match (a) against ('x')": "",
		"select f(1)": "volatile unknown", "select s.upper('a')": "volatile unknown", "select st_collect(g) from t": "volatile unknown",
		"select upper(a), coalesce(b, 1), date_add(c, interval 1 day), a like 'b', json_extract(d, '$.x'), d->'$.x', cast(a as char), count(*), convert(a using utf8mb4), a regexp 'x', a member of(d), x'41', if(a, 1, 2), date'2020-01-01', timestampdiff(day, a, b), trim(both 'x' from a), position('a' in b), substring(a, 1), concat('a', 'b'), a is true, weight_string(a), mod(a, 2), a div 2, extract(year from a), values(a), group_concat(a), interval(1, 2), char(65), format(1, 2), insert('a', 1, 2, 'b'), left('a', 1), replace('a', 'b', 'c'), year(a), default(a), uuid_to_bin(a), st_astext(g), week(a), ifnull(a, 1), nullif(a, 1), greatest(a, b), floor(a), password('x'), current_date from t": "clock",
	} {
		_, s := parsed(t, text)
		var got []string
		for bit := Feature(1); bit != 0; bit <<= 1 {
			if s.Features&bit != 0 {
				got = append(got, names[bit])
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
}

func TestAssignments(t *testing.T) {
	_, s := parsed(t, "update t set a = 1, b = b, c = last_insert_id(c), d = e, t.f = f, g = last_insert_id(), h = h + 1, i = -?")
	var got []string
	for _, a := range s.Assign {
		text := column(a.Column) + "=" + operandText(a.Value)
		if a.Same {
			text += " same"
		}
		got = append(got, text)
	}
	want := "a=$0, b=? same, c=? same, d=?, t.f=?, g=insert-id, h=?, i=-$2"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
}

func TestKinds(t *testing.T) {
	for text, want := range map[string]Kind{
		"select 1": Select, "(select 1)": Select, "table t": Select, "values row(1)": Select, "with a as (select 1) select * from a": Select,
		"insert t values (1)": Insert, "replace t values (1)": Replace, "update t set a = 1": Update, "delete from t": Delete,
		"begin": Begin, "start transaction": Begin, "commit": Commit, "rollback": Rollback, "savepoint a": Savepoint,
		"rollback to a": Savepoint, "release savepoint a": Savepoint, "set a = 1": Set, "use s": Use, "show tables": Show, "describe t": Show,
		"explain t": Show, "explain select 1": Explain, "create database s": CreateSchema, "drop schema s": CreateSchema,
		"create table t (a int)": DDL, "drop table t": DDL, "alter table t add a int": DDL, "truncate t": DDL, "rename table a to b": DDL,
		"create view v as select 1": DDL, "create index i on t (a)": DDL, "kill 5": Kill, "call p()": Call, "lock tables t read": Lock,
		"unlock tables": Unlock, "prepare p from 'select 1'": TextPrepare, "execute p": TextPrepare, "create user u": Account,
		"grant select on s.* to u": Account, "load data local infile 'x' into table t": LoadData, "do 1": Other, "flush tables with read lock": LockServers, "lock instance for backup": LockServers, "unlock instance": LockServers, "flush tables t with read lock": Admin, "shutdown": Admin, "analyze table t": Other,
	} {
		if _, s := parsed(t, text); s.Kind != want {
			t.Errorf("%s: kind %d, want %d", text, s.Kind, want)
		}
	}
}
