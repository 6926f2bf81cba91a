package differential

import (
	"testing"

	"locus/internal/test/servers"
)

// regression is a statement that was answered wrongly once.
type regression struct {
	name  string
	text  string
	args  []any // prepared where there are any
	order order
	mode  string // the sql_mode of the statement; empty: the default
	// writes is the table that it changes, or nil.
	writes *table
	// refused: the answer can't be right, so the proxy must refuse.
	refused bool
	// wrong describes a known error. Such a case only logs the difference.
	wrong string
}

var regressions = []regression{
	{name: "DEFAULT alone where 0 is a number like others", text: "REPLACE INTO person VALUES (DEFAULT, 'v', 1, NULL), (DEFAULT, 'u', 2, NULL)", mode: "NO_AUTO_VALUE_ON_ZERO,STRICT_ALL_TABLES", writes: person},
	{name: "a hint before a field is part of its name", text: "SELECT COUNT(x.n) AS a, /*+ NO_ICP(x) */ COUNT(*) FROM member x GROUP BY x.day"},
	{name: "DEFAULT where 0 is a number like others", text: "REPLACE INTO person VALUES (DEFAULT, 'x', 1, NULL), (0, 'y', 2, NULL), (NULL, 'z', 3, NULL), (DEFAULT, 'w', 4, NULL)", mode: "NO_AUTO_VALUE_ON_ZERO,STRICT_ALL_TABLES", writes: person},
	{
		name: "values for a common table expression that is read more than once",
		text: "WITH w AS (SELECT owner, n, small FROM visit WHERE n < ?), x AS (SELECT owner, SUM(n) AS s, ? AS p FROM w WHERE small < ? GROUP BY owner) SELECT a.owner, a.p, b.s + ? AS t FROM x a JOIN x b ON a.s = b.s WHERE a.owner <> ?",
		args: []any{int64(12), "pä", int64(50), int64(3), int64(1)},
	},
	{
		name: "a value for a common table expression that nothing else reads",
		text: "WITH w AS (SELECT owner, n FROM visit WHERE n < ?), x AS (SELECT DISTINCT small FROM note WHERE small < ?) SELECT a.small, w.n FROM x a JOIN x b USING (small) JOIN w ON w.n = a.small + ?",
		args: []any{int64(7), int64(90), int64(0)},
	},
	{name: "floating-point parameters", text: "SELECT id FROM account WHERE owner IN (?)", args: []any{float64(42)}},
	{name: "a fraction as parameter", text: "SELECT id FROM account WHERE owner IN (?, ?)", args: []any{42.5, float64(7)}},
	{name: "negative floating-point parameters", text: "SELECT id FROM account WHERE owner = ?", args: []any{float64(-1)}},
	{name: "doubles at the end of what they count", text: "SELECT id FROM account WHERE owner = ?", args: []any{float64(1 << 53)}},
	{name: "decimals at the end of what doubles count", text: "SELECT id FROM account WHERE owner IN (9007199254740993.0, '9007199254740993', 9007199254740993e0)"},
	{name: "integers outside the column's range", text: "SELECT id FROM account WHERE owner IN (9223372036854775808, -9223372036854775808, 18446744073709551615)"},
	{name: "NULL by <=>", text: "SELECT id FROM account WHERE owner <=> NULL OR owner = 1"},
	{name: "NOT IN", text: "SELECT id FROM account WHERE owner NOT IN (42, 7)"},
	{name: "strings with blanks as owners", text: "SELECT who, n FROM member WHERE who IN ('ann', 'ann ', 'bob  ')"},
	{name: "strings with introducers as owners", text: "SELECT who, n FROM member WHERE who IN (_binary'ann', _utf8mb4'bob', N'zoë', _latin1'zoë', _utf8mb4 X'e69d8e')"},
	{name: "bytes as numbers", text: "SELECT id FROM account WHERE owner IN (_binary'42', 7) OR owner = _utf8mb4'1'"},
	{name: "names among numbers in a list of rows", text: "SELECT who, n FROM member WHERE (who, gene) IN (('zo', '32742.0'), (42, 59801e0))"},
	{name: "bound names among numbers in a list of rows", text: "SELECT who, n FROM member WHERE (who, gene) IN ((?, ?), (?, ?))", args: []any{"zo", "32742.0", int64(42), float64(59801)}},
	{name: "groups of an owner in a derived table", text: "SELECT d.owner, d.c FROM (SELECT owner, COUNT(*) AS c FROM visit GROUP BY owner) d WHERE d.owner IN (42, 7)"},
	{name: "groups of an owner beside its rows", text: "SELECT a.id, d.c FROM account a LEFT JOIN (SELECT owner, COUNT(*) AS c, MAX(n) AS m FROM visit GROUP BY owner HAVING m > 1) d ON d.owner = a.owner WHERE a.owner = 42"},
	{name: "groups of names, which a blank doesn't tell apart", text: "SELECT d.c FROM (SELECT who, COUNT(*) AS c FROM member GROUP BY who) d WHERE d.who = 'ann '"},
	{name: "owners with several rows", text: "SELECT id FROM account WHERE owner = 42 AND owner IN (SELECT owner FROM visit GROUP BY owner HAVING COUNT(*) > 1)"},
	{name: "an alias hides what groups are of", text: "SELECT d.c FROM (SELECT n % 2 AS owner, COUNT(*) AS c FROM visit GROUP BY n % 2) d WHERE d.owner = 1"},
	{name: "numbers as names", text: "SELECT who, n FROM member WHERE who = 0"},
	{name: "an outer join keeps what its ON excludes", text: "SELECT a.id, v.n FROM account a LEFT JOIN visit v ON v.owner = a.owner AND a.owner = 42"},
	{name: "the second table of an outer join decides", text: "SELECT a.id, v.n FROM account a LEFT JOIN visit v ON v.owner = a.owner WHERE v.owner <=> NULL"},
	{name: "an owner is no gene", text: "SELECT a.id, m.n FROM account a JOIN member m ON a.owner = m.gene"},
	{name: "an ID is no owner", text: "SELECT a.id, b.id FROM account a JOIN account b ON a.id = b.owner"},
	{name: "an ID is no order number", text: "SELECT a.id, b.id FROM account a JOIN account b ON a.id = b.no"},
	{
		name: "an outer join's ON says nothing of the tables on its left",
		text: "SELECT a.id, v.n, l.line_id FROM account a JOIN visit v LEFT JOIN line l ON a.id = l.id AND a.owner = v.owner",
	},
	{name: "LIMIT behind an order by text", text: "SELECT name, id FROM account ORDER BY name DESC, id LIMIT 3, 7", order: ordered},
	{name: "an unpadded collation", text: "SELECT alt, id FROM account ORDER BY alt, id", order: ordered},
	{name: "enumerations sort by their numbers", text: "SELECT kind, tags, id FROM account ORDER BY kind DESC, tags, id", order: ordered},
	{
		name: "an alias that is a column's name", text: "SELECT n AS id FROM member ORDER BY id, member.id", order: ordered,
	},
	{
		name: "a user variable keeps its collation", text: "SELECT COLLATION(@vs) FROM account WHERE owner = 1 LIMIT 1",
	},
	{
		name: "numbers that are bound as text are compared as numbers",
		text: "SELECT id FROM account WHERE id NOT IN (?, ?) EXCEPT SELECT id FROM account x WHERE (id IN (?)) IS TRUE",
		args: []any{"498351446266216455", int64(8416242541136969738), int64(2137098760675655686)},
	},
	{
		name: "NULL that is bound is of the column's type",
		text: "SELECT id AS c FROM line WHERE line.id NOT BETWEEN ? AND ? UNION ALL SELECT t1.small FROM account AS t1",
		args: []any{int64(4279409206466969662), nil},
	},
	{
		name: "index hints of gathered tables",
		text: "SELECT a.id, v.n FROM account a FORCE INDEX (small) JOIN visit AS v USE INDEX FOR JOIN (PRIMARY) ON a.small = v.small WHERE a.id IN (SELECT id FROM line IGNORE INDEX FOR ORDER BY (`id`))",
	},
	{
		name: "a name that no name can be", text: "SELECT note.small, COUNT( /* 🙂 */ *), MAX(note.n)+'𝄞' FROM note JOIN account ON note.owner = account.owner GROUP BY note.small",
	},
	{
		name: "an alias of two fields", text: "SELECT name no, yr IS NULL AS no FROM account ORDER BY no, account.id", order: ordered,
	},
}

func TestRegressions(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		p := newPair(t, engine)
		p.fill(p.generator(1))
		for _, who := range whos[:3] { // the genes of these are also used as owners
			p.exec(p.proxied, "INSERT INTO account (owner) VALUES (?)", int64(geneOfWho(who)))
		}
		p.copy(account)
		for _, c := range regressions {
			t.Run(c.name, func(t *testing.T) { p.regression(t, c) })
		}
	})
}

func (p *pair) regression(t *testing.T, c regression) {
	root := all(c.text)
	s := &statement{root: root, order: c.order, prepared: c.args != nil, fixed: c.args, writes: c.writes}
	if c.mode != "" {
		for _, conn := range p.sessions() {
			p.exec(conn, "SET sql_mode = '"+c.mode+"'")
			defer p.exec(conn, "SET sql_mode = DEFAULT")
		}
	}
	difference, proxy, plain := p.both(s)
	switch {
	case c.wrong != "" && difference == "":
		t.Logf("%s: right, or refused, by now; say so in the table: %v", s, proxy)
	case c.wrong != "":
		t.Logf("%s: still wrong: %s", s, c.wrong)
	case c.refused && !proxy.refused():
		t.Errorf("%s\n  proxy: %v\n  want a refusal", s, proxy)
	case !c.refused && proxy.refused():
		t.Errorf("%s\n  proxy: %v\n  want an answer", s, proxy)
	case difference != "":
		t.Errorf("%s differ\n  %s\n  proxy: %v\n  plain: %v", difference, s, proxy, plain)
	}
}
