package gorm

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"locus/test/servers"
	"locus/test/suites/gomodule"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

var module = gomodule.Module{
	Path: "gorm.io/driver/mysql", Version: "v1.6.0",
	Sum: "h1:eNbLmNTpPpTOVZi8MMxCi2aaIm0ZpInbORNXDwyLGvg=",
}

// version is GORM's.
const version = "v1.31.2"

// place copies the driver and puts the scenarios beside it.
func place(t *testing.T) string {
	t.Helper()
	dir := module.Copy(t)
	if err := os.CopyFS(filepath.Join(dir, "scenarios"), os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	// The language of the scenarios, and the GORM of today.
	stand.Command{Dir: dir, Limit: 5 * time.Minute, Args: []string{"go", "mod", "edit", "-go=1.26", "-require=gorm.io/gorm@" + version}}.Output(t)
	return dir
}

func TestScenarios(t *testing.T) {
	dir := place(t)
	servers.Mostly(t, servers.MariaDB, func(t *testing.T, engine servers.Engine) {
		stand.Start(t, engine).Check(t, func(t *testing.T, at stand.Endpoint, cases []string) stand.Outcomes {
			at.Database(t, "gorm")
			return gomodule.Tests{
				Dir: dir, Packages: []string{".", "./scenarios"}, Limit: 5 * time.Minute, Skip: "^TestShop",
				Env: []string{"GORM_DSN=" + at.DSN("gorm") + "?charset=utf8mb4&parseTime=True&loc=UTC"},
			}.Run(t, cases)
		})
	})
}

func TestShop(t *testing.T) {
	dir := place(t)
	servers.Mostly(t, servers.MariaDB, func(t *testing.T, engine servers.Engine) {
		s := stand.Start(t, engine)
		outcomes := gomodule.Tests{
			Dir: dir, Packages: []string{"./scenarios"}, Limit: 5 * time.Minute,
			Env: []string{"GORM_DSN=" + s.Proxy.DSN(s.Shop.Schema) + "?charset=utf8mb4&parseTime=True&loc=UTC"},
		}.Run(t, []string{"TestShop"})
		if len(outcomes) == 0 {
			t.Error("no test ran")
		}
		for name, o := range outcomes {
			if o.State != stand.Passed {
				t.Errorf("%s is %s: %s", name, o.State, o.Detail)
			}
		}
	})
}
