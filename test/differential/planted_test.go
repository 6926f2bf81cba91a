package differential

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// plantedBug names the bug that is switched on.
const plantedBug = "LOCUS_PLANTED"

// bug is a bug that can be planted in the proxy: a text in one of its files is replaced by another one, which
// calls planted(name) to find out whether the bug is switched on.
type bug struct {
	name, file string
	from, to   string
}

// bugs contains at least one bug in each operator that merges several answers, and in the decisions where such
// an operator may be used. A bug that needs two changes has two entries.
var bugs = []bug{
	{
		"rows of the last shard", "proxy/scatter/merge.go",
		"\tfor i := range g.answers {\n\t\tfor a := &g.answers[i]; !a.ended; {",
		"\tfor i := range g.answers {\n\t\tif planted(\"rows of the last shard\") && i > 0 && i == len(g.answers)-1 {\n\t\t\tbreak\n\t\t}\n\t\tfor a := &g.answers[i]; !a.ended; {",
	},
	{
		"limit", "proxy/scatter/merge.go",
		"return w.left == 0", `return w.left == 0 && !planted("limit")`,
	},
	{
		"offset", "proxy/scatter/merge.go",
		"if w.skip > 0 {", `if w.skip > 0 && !planted("offset") {`,
	},
	{
		"descending order", "proxy/scatter/ordered.go",
		"return c < 0 != s.desc", `return c < 0 != (s.desc && !planted("descending order"))`,
	},
	{
		"the second key of an order", "proxy/scatter/ordered.go",
		"if c == 0 {\n\t\t\tcontinue", "if c == 0 && !planted(\"the second key of an order\") {\n\t\t\tcontinue",
	},
	{
		"the heap of an order", "proxy/scatter/ordered.go",
		"child = right", "if !planted(\"the heap of an order\") {\n\t\t\t\tchild = right\n\t\t\t}",
	},
	{
		"NULL in an order", "proxy/scatter/kind.go",
		"return cmp.Compare(notNull(a), notNull(b))",
		"if planted(\"NULL in an order\") {\n\t\t\treturn cmp.Compare(notNull(b), notNull(a))\n\t\t}\n\t\treturn cmp.Compare(notNull(a), notNull(b))",
	},
	{
		"signs in an order", "proxy/scatter/kind.go",
		"return uint64(n) ^ 1<<63", "if planted(\"signs in an order\") {\n\t\treturn uint64(n)\n\t}\n\treturn uint64(n) ^ 1<<63",
	},
	{
		"decimals in an order", "proxy/scatter/kind.go",
		"case k == rawBytes, k == textDate:", `case k == rawBytes, k == textDate, k == exactDecimal && planted("decimals in an order"):`,
	},
	{
		"collation", "router/plan/sortkey.go",
		"case \"char\", \"varchar\":\n\t\tkey.Weighted = true",
		"case \"char\", \"varchar\":\n\t\tkey.Weighted = true\n\t\tif planted(\"collation\") {\n\t\t\treturn key, name, nil\n\t\t}",
	},
	{
		"enumerations in an order", "router/plan/sortkey.go",
		"return key, name + \" + 0\", nil",
		"if planted(\"enumerations in an order\") {\n\t\t\tkey.Weighted = true\n\t\t\treturn key, \"CAST(\" + name + \" AS BINARY)\", nil\n\t\t}\n\t\treturn key, name + \" + 0\", nil",
	},
	{
		"rows that a shard is asked for", "router/plan/texts.go",
		"edits = append(append(edits, offset...), countEdits(",
		"if planted(\"rows that a shard is asked for\") {\n\t\twanted = w.Count\n\t}\n\tedits = append(append(edits, offset...), countEdits(",
	},
	{
		"count", "proxy/scatter/arithmetic.go",
		"sum += n", "if planted(\"count\") {\n\t\t\tsum = 0\n\t\t}\n\t\tsum += n",
	},
	{
		"sum of decimals", "proxy/scatter/arithmetic.go",
		"sum, any = sum.Add(d), true", "if planted(\"sum of decimals\") {\n\t\t\tsum = decimal.Zero\n\t\t}\n\t\tsum, any = sum.Add(d), true",
	},
	{
		"sum of doubles", "proxy/scatter/arithmetic.go",
		"sum, any = sum+n, true", "if planted(\"sum of doubles\") {\n\t\t\tsum = 0\n\t\t}\n\t\tsum, any = sum+n, true",
	},
	{
		"average", "proxy/scatter/arithmetic.go",
		"sumColumn := g.columns[sumAt]", "if planted(\"average\") {\n\t\tn = int64(len(g.answers))\n\t}\n\tsumColumn := g.columns[sumAt]",
	},
	{
		"rounding of an average", "proxy/scatter/arithmetic.go",
		"return quotient.StringFixed(int32(decimals))",
		"if planted(\"rounding of an average\") {\n\t\tquotient = quotient.Truncate(int32(decimals))\n\t}\n\treturn quotient.StringFixed(int32(decimals))",
	},
	{
		"min and max", "proxy/scatter/aggregated.go",
		"(largest && c > 0)", `(largest != planted("min and max") && c > 0)`,
	},
	{
		"min and max of NULL", "proxy/scatter/aggregated.go",
		"if k.null {\n\t\t\tcontinue", "if k.null {\n\t\t\tif planted(\"min and max of NULL\") {\n\t\t\t\treturn nil, nil\n\t\t\t}\n\t\t\tcontinue",
	},
	{
		"aggregates within limit", "proxy/scatter/aggregated.go",
		"if none || limit.Set && (limit.Count == 0 || limit.Offset > 0) {",
		`if none || !planted("aggregates within limit") && limit.Set && (limit.Count == 0 || limit.Offset > 0) {`,
	},
	{
		"count distinct", "router/plan/combine.go",
		"case f.Distinct && ", `case !planted("count distinct") && f.Distinct && `,
	},
	{
		"distinct", "router/plan/merge.go",
		"case b.Distinct:", `case b.Distinct && !planted("distinct"):`,
	},
	{
		"group by", "router/plan/merge.go",
		"case b.Grouped && !sc.groupsApart(b):", `case b.Grouped && !sc.groupsApart(b) && !planted("group by") && !(b.Having && planted("having")):`,
	},
	{
		"having", "router/plan/merge.go",
		"case aggregated > 0 && !b.Grouped:", `case aggregated > 0 && !b.Grouped && !(b.Having && planted("having")):`,
	},
	{
		"having", "router/plan/merge.go",
		"case b.Having && !b.Grouped:", `case b.Having && !b.Grouped && !planted("having") && !planted("group by"):`,
	},
	{
		"outer joins", "router/plan/merge.go",
		"case !sc.everyRowSharded():", `case !sc.everyRowSharded() && !planted("outer joins"):`,
	},
	{
		"union", "router/plan/merge.go",
		"case s.Features&stmt.Union != 0:", `case s.Features&stmt.Union != 0 && !planted("union"):`,
	},
	{
		"subqueries", "router/plan/merge.go",
		"case len(s.Blocks) > 1:", `case len(s.Blocks) > 1 && !planted("subqueries") && !planted("union"):`,
	},
	{
		"joins across shards", "router/plan/route.go",
		"if reason := p.joinClass(m, i, v, out); reason != nil {",
		"if reason := p.joinClass(m, i, v, out); reason != nil && !planted(\"joins across shards\") && !planted(\"subqueries\") && !planted(\"union\") {",
	},
	{
		"intersection of keys", "router/plan/route.go",
		"shards = intersect(shards, set)", "shards = intersect(shards, set)\n\t\t\tif planted(\"intersection of keys\") {\n\t\t\t\tshards = nil\n\t\t\t}",
	},
	{
		"union of keys", "router/plan/route.go",
		"shards = union(shards, set)", "if len(shards) == 0 || !planted(\"union of keys\") {\n\t\t\t\tshards = union(shards, set)\n\t\t\t}",
	},
	{
		"groups apart", "router/plan/merge.go",
		"key != nil && !yield(n, key) {", `n != nil && (key != nil || planted("groups apart")) && !yield(n, key) {`,
	},
	{
		"groups of what may be absent", "router/plan/merge.go",
		"func (sc *scope) groupsApart(b *stmt.Block) bool {",
		"func (sc *scope) groupsApart(b *stmt.Block) bool {\n\tif planted(\"groups of what may be absent\") {\n\t\tfor i := range b.Groups {\n\t\t\tif n, key := sc.resolve(b, b.Groups[i]); key != nil && n.ref.Nullable {\n\t\t\t\treturn true\n\t\t\t}\n\t\t}\n\t}",
	},
	{
		"counts of groups", "router/plan/partial.go",
		`return "COALESCE(CAST(SUM("`, "if planted(\"counts of groups\") {\n\t\t\treturn \"COUNT(\" + m.addSum(\"COUNT\", a, \"\") + \")\", true\n\t\t}\n\t\t" + `return "COALESCE(CAST(SUM("`,
	},
	{
		"averages of groups", "router/plan/partial.go",
		`return "(SUM(" + m.addSum("SUM", a, "")`, `if planted("averages of groups") {
			return "AVG(" + m.addSum("AVG", a, "") + ")", true
		}
		return "(SUM(" + m.addSum("SUM", a, "")`,
	},
	{
		"different values of groups", "router/plan/partial.go",
		"if a.Distinct {", `if a.Distinct && !planted("different values of groups") {`,
	},
	{
		"rows of the last shard that are gathered", "proxy/exec/several.go",
		"\tfor _, l := range leases {\n\t\ttable, before := *into, into.Left.Rows",
		"\tfor i, l := range leases {\n\t\ttable, before := *into, into.Left.Rows\n\t\tif planted(\"rows of the last shard that are gathered\") && i > 0 && i == len(leases)-1 {\n\t\t\ttable.Left = &gather.Limits{}\n\t\t\t_, _ = table.Fill(ctx, l.Conn, drain)\n\t\t\tl.Lost()\n\t\t\tcontinue\n\t\t}",
	},
	{
		"the last rows of an answer that is gathered", "proxy/gather/gather.go",
		"if err == nil {\n\t\terr = r.insert(ctx)", "if err == nil && !planted(\"the last rows of an answer that is gathered\") {\n\t\terr = r.insert(ctx)",
	},
	{
		"NULLs of an outer join that is gathered", "router/plan/bykey.go",
		"return !n.ref.Nullable\n", "return !n.ref.Nullable || planted(\"NULLs of an outer join that is gathered\")\n",
	},
	{
		"text that is gathered", "proxy/gather/column.go",
		"case text: // bypasses the client's character set",
		"case text:\n\t\tif planted(\"text that is gathered\") {\n\t\t\treturn \"UPPER(\" + name + \")\"\n\t\t}",
	},
	{
		"versions of comments", "router/stmt/resolve.go",
		"if version > s.Version || s.MariaDB && !marked &&", "if !planted(\"versions of comments\") && version > s.Version || s.MariaDB && !planted(\"versions of comments\") && !marked &&",
	},
	{
		"names in double quotes", "router/stmt/lexer.go",
		"mode |= AnsiQuotes\n", "if !planted(\"names in double quotes\") {\n\t\t\t\tmode |= AnsiQuotes\n\t\t\t}\n",
	},
	{
		"the names that are gathered", "proxy/exec/gathertable.go",
		"if t.All && g.shown(t, string(d.Name)) || t.Names[strings.ToLower(string(d.Name))] {",
		`if (t.All && g.shown(t, string(d.Name)) || t.Names[strings.ToLower(string(d.Name))]) && (wanted == nil || !planted("the names that are gathered")) {`,
	},
}

// Each bug can still be planted: the text that it replaces occurs exactly once.
func TestBugsCanBePlanted(t *testing.T) {
	for _, b := range bugs {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(b.file)))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), b.from); n != 1 {
			t.Errorf("%s: %s has %d times\n%s", b.name, b.file, n, b.from)
		}
		if !strings.Contains(b.to, `planted("`+b.name+`")`) {
			t.Errorf("%s: nothing asks whether it is planted", b.name)
		}
	}
}
