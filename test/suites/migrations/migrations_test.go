//go:build long

package migrations

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/proxy/txn"
	"locus/test/shop"
	"locus/test/suites/gomodule"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

const database = "depot"

// tool changes the schema by its own migrations, of which there are three: one makes the table parcel, the next gives it a column weight,
// an index on that, and a longer column note, and the last renames it.
type tool struct {
	parcel, crate  string                           // the table's name before and after the rename
	up, back, down []string                         // all, all but the first back, the rest back
	fill           func(*testing.T, stand.Endpoint) // inserts 12 rows of as many buyers
	env            func(stand.Endpoint) []string
}

func (tl tool) run(t *testing.T, at stand.Endpoint, args []string) {
	t.Helper()
	c := stand.Command{
		Dir: t.TempDir(), Limit: 5 * time.Minute, Env: append(tl.env(at), "TZ=UTC"),
		Args: append([]string{"sh", "-c", `"$@"; echo "exit status $?"`, "sh"}, args...),
	}
	if out := string(c.Output(t)); !strings.HasSuffix(strings.TrimSpace(out), "exit status 0") {
		t.Fatalf("%s: %s", strings.Join(args, " "), out)
	}
}

func (tl tool) test(t *testing.T, engine servers.Engine) {
	s := stand.StartWith(t, engine, shop.Options{Spanning: txn.XA})
	s.Proxy.Database(t, database)
	tl.run(t, s.Proxy, tl.up)
	all := []string{"buyer_uid", "id", "locus_gene", "note", "weight"}
	tl.columns(t, s, tl.crate, all)
	tl.columns(t, s, tl.parcel, nil)
	tl.fill(t, s.Proxy)
	tl.holds(t, s, tl.crate, "COUNT(*), COUNT(DISTINCT id), COUNT(DISTINCT buyer_uid), SUM(weight)", "12 12 12 84")
	for i := range s.Shop.Servers {
		if n := rows(t, s.Shop.Servers[i].DB(t, database), "SELECT COUNT(*) FROM "+tl.crate); n == "0" || n == "12" {
			t.Errorf("s%d has %s of 12 rows", i, n)
		}
	}
	tl.run(t, s.Proxy, tl.back)
	tl.holds(t, s, tl.parcel, "COUNT(*)", "12")
	tl.columns(t, s, tl.parcel, slices.DeleteFunc(slices.Clone(all), func(c string) bool { return c == "weight" }))
	tl.columns(t, s, tl.crate, nil)
	tl.run(t, s.Proxy, tl.down)
	tl.columns(t, s, tl.parcel, nil)
	tl.run(t, s.Proxy, tl.up) // the declaration stays, and the table is created on every shard again
	tl.columns(t, s, tl.crate, all)
	tl.holds(t, s, tl.crate, "COUNT(*)", "0")
	tl.fill(t, s.Proxy)
	tl.holds(t, s, tl.crate, "COUNT(*), COUNT(DISTINCT id), COUNT(DISTINCT buyer_uid), SUM(weight)", "12 12 12 84")
}

// columns checks the columns of a table on each shard.
func (tl tool) columns(t *testing.T, s *stand.Stand, table string, want []string) {
	t.Helper()
	for shard := range s.Shop.Servers {
		got := strings.Fields(rows(t, s.Shop.Servers[shard].DB(t, ""), "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '"+database+"' AND TABLE_NAME = '"+table+"'"))
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("on s%d %s has the columns %v, want %v", shard, table, got, want)
		}
	}
}

// holds asks the proxy.
func (tl tool) holds(t *testing.T, s *stand.Stand, table, fields, want string) {
	t.Helper()
	if got := rows(t, s.Proxy.DB(t, database), "SELECT CONCAT_WS(' ', "+fields+") FROM "+table); got != want {
		t.Errorf("%s of %s are %s, want %s", fields, table, got, want)
	}
}

func TestGolangMigrate(t *testing.T) {
	module := gomodule.Module{Path: "github.com/golang-migrate/migrate/v4", Version: "v4.18.3", Sum: "h1:EYGkoOsvgHHfm5U/naS1RP/6PL/Xv3S4B/swMiAmDLs="}
	program := gomodule.Build(t, module.Copy(t), "./cmd/migrate", "mysql")
	source, err := filepath.Abs("migrate")
	if err != nil {
		t.Fatal(err)
	}
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		migrate := func(args ...string) []string {
			return append([]string{"sh", "-c", `exec "$0" -source "$1" -database "mysql://$APP_USER:$APP_PASSWORD@tcp($APP_HOST:$APP_PORT)/$APP_DATABASE" "$2" $3`, program, "file://" + source}, args...)
		}
		tool{parcel: "parcel", crate: "crate", up: migrate("up"), back: migrate("down", "2"), down: migrate("down", "1"), env: environment, fill: fill}.test(t, engine)
	})
}

func TestDjango(t *testing.T) {
	source := stand.Installed(t, "django")
	here, err := filepath.Abs("django")
	if err != nil {
		t.Fatal(err)
	}
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		django := func(args ...string) []string {
			return append([]string{"/usr/bin/python3", "-W", "ignore", filepath.Join(here, "manage.py")}, args...)
		}
		d := tool{parcel: "depot_parcel", crate: "depot_crate", up: django("migrate", "depot"), back: django("migrate", "depot", "0001"), down: django("migrate", "depot", "zero")}
		d.env = func(at stand.Endpoint) []string {
			return append(environment(at), "PYTHONPATH="+here+":"+source, "PYTHONDONTWRITEBYTECODE=1", "DJANGO_SETTINGS_MODULE=settings")
		}
		d.fill = func(t *testing.T, at stand.Endpoint) { t.Helper(); d.run(t, at, django("fill")) }
		d.test(t, engine)
	})
}

func TestActiveRecord(t *testing.T) {
	stand.Installed(t, "rails")
	program, err := filepath.Abs("activerecord/migrate.rb")
	if err != nil {
		t.Fatal(err)
	}
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		ruby := func(verb string) []string { return []string{"/usr/bin/ruby", "-W0", program, verb} }
		r := tool{parcel: "parcels", crate: "crates", up: ruby("up"), back: ruby("back"), down: ruby("down"), env: environment}
		r.fill = func(t *testing.T, at stand.Endpoint) { t.Helper(); r.run(t, at, ruby("fill")) }
		r.test(t, engine)
	})
}

func environment(at stand.Endpoint) []string {
	return append(os.Environ(), "APP_HOST="+at.Host, fmt.Sprintf("APP_PORT=%d", at.Port), "APP_USER="+at.User, "APP_PASSWORD="+at.Password, "APP_DATABASE="+database)
}

func fill(t *testing.T, at stand.Endpoint) {
	t.Helper()
	db := at.DB(t, database)
	for buyer := range 12 {
		if _, err := db.ExecContext(t.Context(), "INSERT INTO crate (buyer_uid, note) VALUES (?, ?)", buyer+1000, strings.Repeat("x", 20)); err != nil {
			t.Fatal(err)
		}
	}
}
