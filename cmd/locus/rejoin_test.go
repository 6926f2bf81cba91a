package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locus/control/ops"
	"locus/control/switchover"
	"locus/migrate/changes"
)

func TestErrantTransactionsAreShown(t *testing.T) {
	var out bytes.Buffer
	in := &invocation{stdout: &out}
	in.printSaved([]changes.Saved{
		{GTID: "0-1-105", At: time.Unix(0, 0).UTC(), Rows: map[string]int{"shop.orders": 2, "shop.items": 1}},
		{GTID: "0-1-106", At: time.Unix(1, 0).UTC(), Statements: []string{"CREATE DATABASE stray"}},
	})
	e := switchover.Errant{Server: "b:1", Primary: "a:1"}
	out.WriteString(steps("s0", e))
	e.MariaDB, e.Promotes = true, true
	out.WriteString(steps("s0", e))
	for _, want := range []string{
		"0-1-105  1970-01-01T00:00:00Z  1 row of shop.items, 2 rows of shop.orders",
		"0-1-106  1970-01-01T00:00:01Z  CREATE DATABASE stray",
		"locus rejoin s0 b:1 --save another.binlog --rebuild",
		"last, locus switchover s0 --to a:1 makes it follow",
		"last, a process with the role mover makes it follow",
		"mariadb-backup --backup --target-dir",
		"SET GLOBAL gtid_binlog_state = 'GTID'",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s lacks %s", out.String(), want)
		}
	}
}

// An existing file is not overwritten.
func TestErrantTransactionsAreSavedToANewFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "errant.binlog")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := saveErrant(t.Context(), new(ops.Rejoining), file); err == nil || !strings.Contains(err.Error(), "name another one (--save)") {
		t.Error(err)
	}
	if kept, err := os.ReadFile(file); err != nil || string(kept) != "mine" {
		t.Errorf("%q, %v", kept, err)
	}
}
