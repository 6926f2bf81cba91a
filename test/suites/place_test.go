package suites

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/test/suites/stand"
)

// place is where the clients of a run connect.
type place struct {
	stand.Endpoint
	engine   servers.Engine
	database string // the first of the suite's
}

// fill replaces the words in braces in texts of the table: {host}, {port}, {addr}, {user}, {password}, {database}, {engine}, {dsn},
// which is go-sql-driver's, and {here}, the directory of this package. Further words follow in pairs.
func (p place) fill(t testing.TB, texts []string, more ...string) []string {
	t.Helper()
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.NewReplacer(append(more,
		"{host}", p.Host, "{port}", fmt.Sprint(p.Port), "{addr}", p.Addr(), "{user}", p.User, "{password}", p.Password,
		"{database}", p.database, "{engine}", string(p.engine), "{dsn}", p.DSN(p.database), "{here}", here,
	)...)
	filled := make([]string, len(texts))
	for i, text := range texts {
		filled[i] = words.Replace(text)
	}
	return filled
}
