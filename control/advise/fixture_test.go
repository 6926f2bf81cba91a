package advise

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"locus/proxy/schema"
	"locus/router/catalog"
)

// readFixture reads a schema of testdata, whose tables are in database db. Below each table are its columns, its keys and its foreign keys.
func readFixture(t testing.TB, file string) *Schema {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return schemaOf(t, string(text))
}

func schemaOf(t testing.TB, text string) *Schema {
	t.Helper()
	f := fixture{listing: &catalog.Listing{}}
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
			f.line(words)
		}
	}
	f.listing.Finish()
	return NewSchema(f.tables, f.listing)
}

type fixture struct {
	tables  []schema.Surveyed
	listing *catalog.Listing
}

func (f *fixture) line(words []string) {
	if words[0] == "table" {
		rows, _ := strconv.ParseUint(strings.TrimPrefix(words[2], "rows="), 10, 64)
		name := catalog.TableName{Schema: "db", Name: words[1]}
		f.tables = append(f.tables, schema.Surveyed{TableName: name, Rows: rows, Leading: map[string]bool{}})
		f.listing.Tables = append(f.listing.Tables, catalog.ListedTable{TableName: name, Type: "BASE TABLE"})
		return
	}
	t := &f.tables[len(f.tables)-1]
	switch words[0] {
	case "primary", "unique":
		name := "PRIMARY"
		if words[0] == "unique" {
			name = words[1]
		}
		u := catalog.UniqueKey{Name: name}
		for _, c := range words[1:] {
			u.Columns = append(u.Columns, columnAt(t, c))
		}
		t.Unique, t.Leading[lowered(words[1])] = append(t.Unique, u), true
	case "key":
		t.Leading[lowered(words[1])] = true
	case "ref":
		f.listing.ForeignKeys = append(f.listing.ForeignKeys, catalog.ForeignKey{
			TableName: t.TableName, Name: "fk_" + t.Name + "_" + words[1], Columns: []string{words[1]},
			References: catalog.TableName{Schema: "db", Name: words[2]}, Referred: []string{words[3]}, OnDelete: "RESTRICT", OnUpdate: "RESTRICT",
		})
		t.Leading[lowered(words[1])] = true
	default:
		t.Columns = append(t.Columns, columnOf(words))
	}
}

// columnOf reads a column. Its length and collation follow its type.
func columnOf(words []string) catalog.Column {
	c := catalog.Column{Name: words[0], DataType: words[1]}
	for _, w := range words[2:] {
		switch n, err := strconv.Atoi(w); {
		case err == nil:
			c.Length = n
		case w == "auto":
			c.AutoIncrement, c.HasDefault = true, true
		case w == "unsigned":
			c.Unsigned = true
		default:
			c.Charset, c.Collation = "utf8mb4", w
		}
	}
	return c
}

// readWorkload reads the statements of a file in testdata, each after its number of executions and their time.
// In the executions, {n} and {m} stand for different numbers.
func readWorkload(t testing.TB, file string) *Workload {
	t.Helper()
	f, err := os.Open("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := NewWorkload()
	w.Sources = []string{file}
	for scan := bufio.NewScanner(f); scan.Scan(); {
		words := strings.SplitN(scan.Text(), " ", 3)
		count, _ := strconv.ParseUint(words[0], 10, 64)
		seconds, _ := strconv.ParseFloat(words[1], 64)
		addExecutions(w, count, seconds, words[2])
	}
	return w
}

func addExecutions(w *Workload, count uint64, seconds float64, text string) {
	n := min(count, mostSamples)
	one := ""
	for i := range n {
		one = strings.NewReplacer("{n}", fmt.Sprint(i+1), "{m}", fmt.Sprint(5*i+40)).Replace(text)
		w.Add("db", one, seconds/float64(n))
	}
	w.count("db", one, count-n, 0)
}
