package job_test

import (
	"strings"
	"testing"

	"locus/migrate/job"
	"locus/migrate/phase"
)

func image(sum string, version ...int64) job.Image {
	i := job.Image{Sum: sum}
	if version != nil {
		i.Version = &version[0]
	}
	return i
}

// TestWhoseRowStands combines every kind of difference with every selection.
func TestWhoseRowStands(t *testing.T) {
	none := job.Image{}
	for _, c := range []struct {
		name           string
		versioned      bool
		source, target job.Image
		take           job.Take
		winner         job.Side
		deed, why      string
	}{
		{"source", true, image("a", 1), image("b", 2), job.TakeSource, job.AtSource, "replace at the target", ""},
		{"target", true, image("a", 2), image("b", 1), job.TakeTarget, job.AtTarget, "replace at the source", ""},
		{"newer at the source", true, image("a", 2), image("b", 1), job.TakeNewer, job.AtSource, "replace at the target", ""},
		{"newer at the target", true, image("a", -1), image("b", 1), job.TakeNewer, job.AtTarget, "replace at the source", ""},
		{"equal versions", true, image("a", 2), image("b", 2), job.TakeNewer, "", "", "both rows have version 2: take source or target"},
		{"a NULL version", true, image("a"), image("b", 2), job.TakeNewer, "", "", "a version is NULL: take source or target"},
		{"no version column", false, image("a"), image("b"), job.TakeNewer, "", "", "table shop.orders has no version column: take source or target"},
		{"no version column, source", false, image("a"), image("b"), job.TakeSource, job.AtSource, "replace at the target", ""},
		{"missing, newer", true, image("a", 2), none, job.TakeNewer, "", "", "one side has no row, and no version shows whether it was deleted or was never there: take source or target"},
		{"extra, newer", true, none, image("a", 2), job.TakeNewer, "", "", "one side has no row, and no version shows whether it was deleted or was never there: take source or target"},
		{"missing, source", true, image("a", 2), none, job.TakeSource, job.AtSource, "insert at the target", ""},
		{"missing, target", true, image("a", 2), none, job.TakeTarget, job.AtTarget, "delete at the source", ""},
		{"extra, source", true, none, image("a", 2), job.TakeSource, job.AtSource, "delete at the target", ""},
		{"extra, target", true, none, image("a", 2), job.TakeTarget, job.AtTarget, "insert at the source", ""},
		{"nonsense", true, image("a", 1), image("b", 2), "newest", "", "", `"newest": take source, target or newer`},
	} {
		d := job.Difference{Table: "shop.orders", Versioned: c.versioned, Source: c.source, Target: c.target}
		winner, why := d.Decide(c.take)
		deed := ""
		if why == "" {
			deed = d.Deed(winner)
		}
		if winner != c.winner || why != c.why || deed != c.deed {
			t.Errorf("%s: %s, %q, %q; want %s, %q, %q", c.name, winner, deed, why, c.winner, c.deed, c.why)
		}
	}
}

// A list is bounded by its rows and its bytes, and counts the others; no number is given twice.
func TestAListIsBounded(t *testing.T) {
	for _, c := range []struct {
		name        string
		row         job.Difference
		least, most int
	}{
		{"short rows", job.Difference{Key: []byte("1")}, 200, 200},
		{"long keys", job.Difference{Key: make([]byte, 3000), KeyText: strings.Repeat("x", 3000)}, 10, 30},
		{"one that is too long", job.Difference{KeyText: strings.Repeat("x", 1<<20)}, 1, 1},
	} {
		l := job.Differences{Last: 7}
		for range 1_000 {
			l.Add(c.row)
		}
		if n := len(l.Rows); n < c.least || n > c.most || l.Beyond != int64(1_000-n) || l.Rows[0].Number != 8 || l.Last != 7+n {
			t.Errorf("%s: %d rows from %d to %d, %d beyond", c.name, n, l.Rows[0].Number, l.Last, l.Beyond)
		}
	}
}

func TestRowsAreChosen(t *testing.T) {
	l := job.Differences{Last: 10}
	for range 5 {
		l.Add(job.Difference{})
	}
	for _, c := range []struct{ selection, want string }{
		{"", "11 12 13 14 15"},
		{" ", "11 12 13 14 15"},
		{"12", "12"},
		{"12, 14-15", "12 14 15"},
		{"14-99,11", "14 15 11"},
		{"3", "row 3 is not listed"},
		{"12,3-4", "row 3-4 is not listed"},
		{"15-14", "write them like"},
		{"x", "write them like"},
		{"12,", "write them like"},
		{"-3", "write them like"},
	} {
		rows, err := l.Chosen(c.selection)
		var got []string
		for _, d := range rows {
			got = append(got, strings.TrimSpace(strings.Join([]string{"", string(rune('0' + d.Number/10)), string(rune('0' + d.Number%10))}, "")))
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if text := strings.Join(got, " "); text != c.want && (err == nil || !strings.Contains(text, c.want)) {
			t.Errorf("%q: %s, want %s", c.selection, text, c.want)
		}
	}
}

// A repair request contains the numbers of the rows that it changes, and is removed when the job continues.
func TestAnOrderToRepair(t *testing.T) {
	rows := []job.Difference{
		{Number: 3, Versioned: true, Source: image("a", 1), Target: image("b", 2)},
		{Number: 4, Table: "shop.notes", Source: image("a"), Target: image("b")},
	}
	if _, err := job.MakeEqual(job.TakeNewer, rows[1:], "ann"); err == nil || !strings.Contains(err.Error(), "shop.notes has no version column") {
		t.Errorf("nothing that can be done: %v", err)
	}
	if _, err := job.MakeEqual(job.TakeSource, nil, "ann"); err == nil || !strings.Contains(err.Error(), "no rows are listed") {
		t.Errorf("no rows: %v", err)
	}
	order, err := job.MakeEqual(job.TakeNewer, rows, "ann")
	if err != nil {
		t.Fatal(err)
	}
	j := planned(t)
	if _, err := j.Told(order, "ann", noon); err == nil {
		t.Error("a job without differing rows is repaired")
	}
	for _, e := range []phase.Event{{Kind: phase.Announced}, {Kind: phase.Copied}, {Kind: phase.CaughtUp}, {Kind: phase.FailedWith, Why: "rows differ", Rows: 2}} {
		if j, err = j.On(e, "mover", "", noon); err != nil {
			t.Fatal(err)
		}
	}
	told, err := j.Told(order, "ann", noon)
	if err != nil {
		t.Fatal(err)
	}
	if r := told.Repair; r == nil || r.Take != job.TakeNewer || r.Has(4) || !r.Has(3) || told.State.Shown() != phase.Repairing {
		t.Errorf("%+v, %s", told.Repair, told.State.Shown())
	}
	if _, err := told.Told(order, "bob", noon); err == nil {
		t.Error("a second repair at the same time")
	}
	left, err := told.On(phase.Event{Kind: phase.Repaired, Rows: 1, Why: "1 row left"}, "mover", "", noon)
	if err != nil || left.Repair != nil || left.State.Shown() != phase.Failed || left.State.Differing != 1 {
		t.Errorf("%v: %+v", err, left)
	}
	on, err := told.On(phase.Event{Kind: phase.Repaired}, "mover", "", noon)
	if err != nil || on.Repair != nil || on.State.Phase != phase.Verifying {
		t.Errorf("%v: %+v", err, on)
	}
}
