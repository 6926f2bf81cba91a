//go:build long

package xorm

import (
	"testing"
	"time"

	"locus/test/servers"
	"locus/test/suites/gomodule"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

var module = gomodule.Module{
	Path: "xorm.io/xorm", Version: "v1.1.2",
	Sum: "h1:bje+1KZvK3m5AHtZNfUDlKEEyuw/IRHT+an0CLIG5TU=",
}

func TestSuite(t *testing.T) {
	dir := module.Copy(t)
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		stand.Start(t, engine).Check(t, func(t *testing.T, at stand.Endpoint, cases []string) stand.Outcomes {
			at.Database(t, "xorm_test")
			return gomodule.Tests{
				Dir: dir, Packages: []string{"./integrations"}, Limit: 10 * time.Minute,
				Args: []string{"-db=mysql", "-conn_str=" + at.DSN("xorm_test") + "?charset=utf8mb4"},
			}.Run(t, cases)
		})
	})
}
