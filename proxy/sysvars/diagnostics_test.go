package sysvars

import (
	"errors"
	"slices"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// diagnosed returns a session after a statement with a warning and errors.
func diagnosed(f *fakeShard) *Evaluator {
	s := newState(f)
	s.Keep(table([]string{"Note", "1051", "Unknown table"}, []string{"Error", "1644", "mine"}, []string{"Error", "1062", "Duplicate"}))
	s.NoteState(0, 1051, "11111") // there is no error with this number
	s.NoteState(0, 1644, "45678")
	s.RowCount = 7
	return s
}

func TestShowWarnings(t *testing.T) {
	for text, want := range map[string][][]string{
		"SHOW WARNINGS":            {{"Note", "1051", "Unknown table"}, {"Error", "1644", "mine"}, {"Error", "1062", "Duplicate"}},
		"SHOW ERRORS":              {{"Error", "1644", "mine"}, {"Error", "1062", "Duplicate"}},
		"SHOW ERRORS LIMIT 1":      {{"Error", "1644", "mine"}},
		"SHOW WARNINGS LIMIT 1, 1": {{"Error", "1644", "mine"}},
		"SHOW WARNINGS LIMIT 9, 9": {},
		"SHOW COUNT(*) WARNINGS":   {{"3"}},
		"SHOW COUNT(*) ERRORS":     {{"2"}},
	} {
		s := diagnosed(&fakeShard{}) // this shard answers no queries for columns
		columns, rows, err := s.ShowDiagnostics(shown(t, text))
		if err != nil || !slices.EqualFunc(rows, want, slices.Equal) || s.RowCount != -1 || len(want) > 0 && len(columns) != len(want[0]) {
			t.Errorf("%s: %v, %v", text, rows, err)
		}
	}
	f := &fakeShard{answers: map[string]*backend.Rows{"SHOW warnings LIMIT 0": table([]string{"", "", "", ""})}}
	if columns := diagnosed(f).DiagnosticColumns(&stmt.Shown{What: "warnings"}); len(columns) != 4 {
		t.Errorf("the shard's columns are not taken: %v", columns)
	}
	for _, clause := range []string{"LIMIT -1", "LIMIT 1, many"} {
		if _, _, err := diagnosed(&fakeShard{}).ShowDiagnostics(&stmt.Shown{What: "warnings", Clause: clause}); err == nil {
			t.Errorf("%s is a limit", clause)
		}
	}
	if rows, err := limited([][]string{{"1"}, {"2"}, {"3"}}, "limit 1 offset 2"); err != nil || len(rows) != 1 || rows[0][0] != "3" {
		t.Errorf("%v, %v", rows, err)
	}
}

func TestOwnConditions(t *testing.T) {
	var d Diagnostics
	d.Warn("mind")
	before := d.TakeConditions()
	d.RestoreConditions(before)
	if len(d.Conditions) != 1 {
		t.Errorf("after a statement that warned of nothing: %v", d.Conditions)
	}
	before = d.TakeConditions()
	d.Note(1060, "passed over")
	if d.RestoreConditions(before); len(d.Conditions) != 1 || d.Conditions[0].level != "Note" {
		t.Errorf("after one that did: %v", d.Conditions)
	}
	d.Fail(&mysql.MyError{Code: 1062, State: "23000", Message: "Duplicate"})
	if len(d.Conditions) != 1 || d.errors() != 1 || d.Conditions[0].code != "1062" {
		t.Errorf("after one that failed: %v", d.Conditions)
	}
}

func TestGetDiagnostics(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"GET DIAGNOSTICS @n = NUMBER, @r = ROW_COUNT", "@n=3 @r=7"},
		{"GET DIAGNOSTICS CONDITION 2 @e = MYSQL_ERRNO, @s = RETURNED_SQLSTATE", "@e=1644 @s=_utf8mb3 X'3435363738' COLLATE utf8mb3_general_ci"},
		{"GET DIAGNOSTICS CONDITION 3 @s = RETURNED_SQLSTATE, @m = MESSAGE_TEXT", "@s=_utf8mb3 X'3233303030' COLLATE utf8mb3_general_ci @m=_utf8mb3 X'4475706C6963617465' COLLATE utf8mb3_general_ci"},
		{"GET DIAGNOSTICS CONDITION 1 @s = RETURNED_SQLSTATE", "@s=_utf8mb3 X'3432533032' COLLATE utf8mb3_general_ci"},
		{"GET DIAGNOSTICS CONDITION @two @e = MYSQL_ERRNO", "@e=1644"},
		{"GET DIAGNOSTICS CONDITION 9 @e = MYSQL_ERRNO", ""},
	} {
		two := number64("2")
		two.Rows[0] = append(two.Rows[0], []byte("32"), []byte("binary"), []byte("binary"))
		two.Columns = append(two.Columns, make([]wire.Column, 3)...)
		s := diagnosed(&fakeShard{answers: map[string]*backend.Rows{computing("CAST(@two AS SIGNED)"): two}})
		st, _ := parse(t, test.text)
		next, err := s.Diagnose(st.Diagnosing)
		if err != nil || variablesOf(next) != test.want || (len(s.Conditions) == 4) != (test.want == "") {
			t.Errorf("%s: %v, %v", test.text, next, err)
		}
	}
	st, _ := parse(t, "GET DIAGNOSTICS CONDITION 1 @t = TABLE_NAME")
	if _, err := diagnosed(&fakeShard{}).Diagnose(st.Diagnosing); err == nil {
		t.Error("a table's name is told")
	}
	st, _ = parse(t, "GET DIAGNOSTICS CONDITION @two @e = MYSQL_ERRNO")
	if _, err := diagnosed(&fakeShard{}).Diagnose(st.Diagnosing); !errors.Is(err, errNotAsked) {
		t.Errorf("a shard that is away: %v", err)
	}
	for code, want := range map[string]string{"1642": "01000", "1062": "23000", "64000": "HY000"} {
		if state := (&Condition{code: code}).sqlState(); state != want {
			t.Errorf("the state of %s is %s", code, state)
		}
	}
}

func TestUserVariables(t *testing.T) {
	names := []string{"a", "b c", "none", "f"}
	rows := table([]string{"ab", "6162", "utf8mb4", "utf8mb4_bin", "x", "78", "binary", "binary", "", "", "latin1", "latin1_bin", "1", "31", "binary", "binary"})
	rows.Rows[0][8], rows.Rows[0][9] = nil, nil
	rows.Columns[12].Type = mysql.MYSQL_TYPE_DOUBLE
	next, carried := WithUserVariables(backend.Default, names, rows)
	want := "@a=_utf8mb4 X'6162' COLLATE utf8mb4_bin @`b c`=_binary X'78' @none=CONVERT(NULL USING latin1) COLLATE latin1_bin @f=1e0"
	if got := variablesOf(next); got != want || !slices.Equal(carried, []string{"@a", "@`b c`", "@none", "@f"}) {
		t.Errorf("%s, carried as %q", got, carried)
	}
	s := newState(&fakeShard{})
	if s.Carry(next); !slices.Equal(s.UserVariables(), names) {
		t.Errorf("%q", s.UserVariables())
	}
	for name, want := range map[string]string{"a": "_utf8mb4 X'6162'", "none": "NULL", "never": "NULL", "f": "1e0"} {
		if got := s.UserVariable(name); got != want {
			t.Errorf("@%s is %s", name, got)
		}
	}
	if text, err := s.UserText("a"); err != nil || text != "ab" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := s.UserText("never"); err == nil {
		t.Error("NULL is a text")
	}
	s.Carry(s.Settings.With("@l", "_latin1 X'E9' COLLATE latin1_bin"))
	if _, err := s.UserText("l"); !errors.Is(err, errNotAsked) {
		t.Errorf("a text whose letters are not UTF-8's was not asked for: %v", err)
	}
	rows.Rows[0][1] = nil // the hexadecimal text is too large
	if next, _ := WithUserVariables(backend.Default, names, rows); next != nil {
		t.Error("a value without its bytes is taken")
	}
	if next, _ := WithUserVariables(backend.Default, names, &backend.Rows{}); next != nil {
		t.Error("no row is taken")
	}
	if got := AskUserVariables([]string{"a`b"}); got != "SELECT @`a``b`, HEX(@`a``b`), CHARSET(@`a``b`), COLLATION(@`a``b`)" {
		t.Error(got)
	}
}
