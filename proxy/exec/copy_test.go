package exec

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/fakeshard"
	"locus/proxy/wire"
	"locus/router/catalog"
	"locus/router/plan"
)

// into returns the destination of rows of an ID and an amount.
func (a *asking) into() plan.Destination {
	a.t.Helper()
	table, err := a.Snapshot.Catalog.Find(catalog.TableName{Schema: "shop", Name: "orders"})
	if err != nil {
		a.t.Fatal(err)
	}
	return plan.Destination{Into: table, Columns: []int{0, 2}}
}

// copied copies the rows of a query, and returns the rows in their written form.
func (a *asking) copied(into plan.Destination, fails error) (written []string, err error) {
	err = a.onWorkspace("s2", func(w *workspace) error {
		if err := w.create("t", "CREATE t"); err != nil {
			return err
		}
		return w.copyRows("SELECT q", a.Params, into, func(row func([]byte) ([]byte, error)) error {
			text, err := row(nil)
			written = append(written, string(text))
			return errors.Join(err, fails)
		})
	})
	return written, err
}

// answeredRows returns an answer to a query with rows in binary form.
func answeredRows(rows ...[]string) fakeshard.Reply {
	for _, row := range rows {
		for i, v := range row {
			row[i] = string(integer(uint64(v[0] - '0')).Value)
		}
	}
	return fakeshard.Reply{Prefix: "SELECT q", Columns: []wire.Column{fakeshard.Number("a"), fakeshard.Number("b")}, Rows: rows}
}

func TestCopy(t *testing.T) {
	s := newStand(t)
	a := s.request("SELECT LAST_INSERT_ID()")
	a.Vars.InsertID = 7
	s.shards["s2"].Next(answeredRows([]string{"1", "2"}, []string{"3", "4"}))
	got, err := a.copied(a.into(), nil)
	if err != nil || !slices.Equal(got, []string{"1,2", "3,4"}) {
		t.Errorf("%q, %v", got, err)
	}
	if !slices.Contains(s.shards["s2"].Sent(), "SET last_insert_id = 7") {
		t.Error("the query has no LAST_INSERT_ID()")
	}
}

// TestCopyFails: a query whose rows are not read to the end costs its connection. An error of the server doesn't.
func TestCopyFails(t *testing.T) {
	why := errors.New("no room")
	s := newStand(t)
	a := s.request("SELECT 1")
	s.shards["s2"].Next(answeredRows([]string{"1", "2"}, []string{"3", "4"}))
	if got, err := a.copied(a.into(), why); !errors.Is(err, why) || len(got) != 1 {
		t.Errorf("%q, %v", got, err)
	}
	if sent := s.log.Statements("s2"); sent[len(sent)-1] != "SELECT q" {
		t.Errorf("within an answer s2 was sent %q", sent)
	}
	for _, reply := range failures("SELECT q") {
		s.shards["s2"].Next(reply)
		if got, err := a.copied(a.into(), nil); !failed(err) || got != nil {
			t.Errorf("%+v: %q, %v", reply, got, err)
		}
	}
	s.shards["s2"].Next(answeredRows([]string{"1", "2"}))
	if _, err := a.copied(plan.Destination{Into: a.into().Into, Columns: []int{0}}, nil); !refused(err, mysql.ER_WRONG_VALUE_COUNT_ON_ROW) {
		t.Error(err)
	}
	strange := answeredRows()
	strange.Columns[1].Type = mysql.MYSQL_TYPE_GEOMETRY
	s.shards["s2"].Next(strange)
	if _, err := a.copied(a.into(), nil); err == nil || !strings.Contains(err.Error(), "CAST it to the column's type") {
		t.Error(err)
	}
}

// TestCopyTimes: a TIMESTAMP is copied if the clocks of the session's or the server's time zone don't go back.
func TestCopyTimes(t *testing.T) {
	for _, c := range []struct {
		zone, server string
		ok           bool
	}{
		{"'+02:00'", "", true}, {"'UTC'", "", true}, {"'Europe/Berlin'", "", false}, {"", "UTC", true}, {"", "+01:00", true}, {"", "CET", false},
	} {
		s := newStand(t)
		a := s.request("SELECT 1")
		if c.zone != "" {
			a.Vars.Settings = a.Vars.Settings.With("time_zone", c.zone)
		}
		text := fakeshard.Number("zone")
		s.shards["s2"].Next(fakeshard.Reply{Prefix: "SELECT IF(@@global.time_zone", Columns: []wire.Column{text}, Rows: [][]string{{c.server}}})
		times := answeredRows()
		times.Columns[0].Type = mysql.MYSQL_TYPE_TIMESTAMP
		s.shards["s2"].Next(times)
		into := a.into()
		columns := slices.Clone(into.Into.Columns)
		columns[0].DataType = "timestamp"
		table := *into.Into
		table.Columns = columns
		into.Into = &table
		if _, err := a.copied(into, nil); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// The strict modes are off for the statements that run within Leniently. The session's settings stay as they are.
func TestLeniently(t *testing.T) {
	s := newStand(t)
	a := s.request("SELECT 1")
	before, why := a.Vars.Settings, errors.New("no room")
	text := fakeshard.Number("mode")
	s.shards["s2"].Next(fakeshard.Reply{Prefix: "SELECT @@sql_mode", Columns: []wire.Column{text}, Rows: [][]string{{"STRICT_TRANS_TABLES,ANSI_QUOTES,NO_ZERO_DATE"}}})
	err := a.onWorkspace("s2", func(w *workspace) error {
		return w.leniently(func() error {
			if mode, _ := w.x.under().Lookup("sql_mode"); mode != "'ALLOW_INVALID_DATES,ANSI_QUOTES'" || a.Vars.Settings != before {
				t.Errorf("sql_mode is %s", mode)
			}
			return why
		})
	})
	if !errors.Is(err, why) || a.Vars.Settings != before {
		t.Errorf("%v, settings are %v", err, a.Vars.Settings)
	}
	for _, reply := range failures("SELECT @@sql_mode") {
		s.shards["s2"].Next(reply)
		if err := a.onWorkspace("s2", func(w *workspace) error { return w.leniently(func() error { return nil }) }); !failed(err) {
			t.Errorf("%+v: %v", reply, err)
		}
	}
}
