package plan

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/internal/test/golden"
	"locus/router"
	"locus/router/stmt"
)

// A golden file can be read by a DBA. It contains remarks, a statement, a line of four dashes, how the statement is run, and a
// blank line. Lines above a statement set what the session has:
//
//	given 42, 'x'        the parameters of a prepared statement
//	schema other         another default database ("schema -" is none)
//	mode ANSI_QUOTES     the sql_mode
//	insert-id 5          LAST_INSERT_ID()
//	variable x = 5       user variables
//	divided 35           the rows of buyer 7 are divided: s3 has 35 % of them, by sequence
type session struct {
	schema    string
	mode      stmt.Mode
	bound     []stmt.Value
	insertID  uint64
	variables map[string]stmt.Value
	share     orderid.Residue
}

// valuesOf returns the values of a comma-separated list of SQL literals.
func valuesOf(list string) []stmt.Value {
	l := lexedText("insert into t values ("+list+")", 0)
	var a stmt.Args
	a.Reset(l, nil)
	var out []stmt.Value
	for _, c := range l.Cells {
		out = append(out, a.Cell(c))
	}
	return out
}

func (s *session) set(word, rest string) bool {
	switch word {
	case "given":
		s.bound = valuesOf(rest)
	case "schema":
		s.schema = strings.Trim(rest, "-")
	case "mode":
		s.mode = stmt.ModeOf(rest)
	case "insert-id":
		s.insertID, _ = strconv.ParseUint(rest, 10, 64)
	case "divided":
		share, _ := strconv.ParseUint(rest, 10, 8)
		s.share = orderid.Residue(share)
	case "variable":
		name, value, _ := strings.Cut(rest, " = ")
		s.variables[name] = valuesOf(value)[0]
	default:
		return false
	}
	return true
}

func (s *session) values(l *stmt.Lexed) *Values {
	var a stmt.Args
	a.Reset(l, s.bound)
	return &Values{Args: &a, InsertID: s.insertID, UserVariable: func(name string) stmt.Value { return s.variables[name] }}
}

// routes is the map by which statements are routed.
func (s *session) routes(t testing.TB) *router.Map {
	m := shopMap(t)
	if s.share == 0 {
		return m
	}
	g := gene.OfInt(7, m.Width())
	divided, err := m.Step([]router.Move{{
		Job: "split-1", Genes: gene.NewSet(gene.Range{First: g, Last: g}), From: m.Shard(m.Lookup(g)), To: "s3", BySequence: true, Share: s.share,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return divided
}

// planned returns the explanation of one statement.
func (s *session) planned(t *testing.T, text string) string {
	l := lexedText(text, s.mode)
	p, err := Make(l, Context{Catalog: shopCatalog(t), Schema: s.schema})
	lines := []Line(nil)
	changed, rewritten := p.(*Rewritten)
	switch {
	case err != nil:
		lines = ExplainError(err)
	case rewritten && changed.Text != "":
		return "becomes: " + changed.Text + "\n" + s.planned(t, changed.Text)
	default:
		lines = Explain(p, s.routes(t), s.values(l), &Route{})
		lines = append(lines, remarks(p.About())...)
	}
	var b strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&b, "%s: %s\n", line.Part, strings.ReplaceAll(line.Detail, "\n", "⏎"))
	}
	return b.String()
}

// remarks returns what a session must know in addition to the route.
func remarks(p *Facts) []Line {
	var words []string
	for _, r := range []struct {
		is   bool
		word string
	}{
		{p.Writes, "writes"},
		{p.Metadata, "metadata"},
		{p.ReadsInsertID, "reads the insert ID"},
		{p.KeepsInsertID, "may change the insert ID"},
		{!p.Cacheable, "planned anew each time"},
	} {
		if r.is {
			words = append(words, r.word)
		}
	}
	if words == nil {
		return nil
	}
	return []Line{{"also", strings.Join(words, ", ")}}
}

// TestGolden plans every statement of testdata.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files (%v)", err)
	}
	statements := 0
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, n := replaced(t, string(want))
			statements += n
			if golden.Update(t, file, got) {
				return
			}
			if got != string(want) {
				t.Errorf("%s has other plans now (go test -update, and look at the difference):\n%s", file, firstDifference(string(want), got))
			}
		})
	}
	if statements < 120 {
		t.Errorf("only %d statements", statements)
	}
}

// replaced replaces the text below each statement.
func replaced(t *testing.T, text string) (out string, statements int) {
	var b bytes.Buffer
	for _, s := range scenes(text) {
		b.WriteString(s.head)
		if s.text == "" {
			continue
		}
		statements++
		fmt.Fprintf(&b, "----\n%s\n", s.session.planned(t, s.text))
	}
	return strings.TrimRight(b.String(), "\n") + "\n", statements
}

// scene is one statement of a golden file, with all lines above its dashes.
type scene struct {
	head    string
	text    string
	session session
}

func scenes(text string) []scene {
	var out []scene
	for _, block := range strings.Split(strings.TrimSpace(text), "\n\n") {
		s := scene{session: session{schema: "shop", variables: map[string]stmt.Value{}}}
		var text []string
		for _, line := range strings.Split(block, "\n") {
			if line == "----" {
				s.text = strings.Join(text, "\n")
				break
			}
			s.head += line + "\n"
			word, rest, _ := strings.Cut(line, " ")
			if !strings.HasPrefix(line, "# ") && line != "#" && !s.session.set(word, rest) {
				text = append(text, line)
			}
		}
		if s.text == "" {
			s.head += "\n"
		}
		out = append(out, s)
	}
	return out
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return strings.Join(g[max(0, i-8):min(len(g), i+8)], "\n") + "\nwas: " + w[i]
		}
	}
	return "another length"
}
