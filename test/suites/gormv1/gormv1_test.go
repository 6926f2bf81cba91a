//go:build long

package gormv1

import (
	"testing"
	"time"

	"locus/test/servers"
	"locus/test/suites/gomodule"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

var module = gomodule.Module{
	Path: "github.com/jinzhu/gorm", Version: "v1.9.16",
	Sum: "h1:+IyIjPEABKRpsu/F8OvDPy9fyQlgsg2luMV2ZIH5i5o=",
}

func TestSuite(t *testing.T) {
	dir := module.Copy(t)
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		stand.Start(t, engine).Check(t, func(t *testing.T, at stand.Endpoint, cases []string) stand.Outcomes {
			at.Database(t, "gorm")
			return gomodule.Tests{
				Dir: dir, Limit: 10 * time.Minute,
				// The names of its cases hold addresses in memory; it asks no server.
				Skip: "^TestOpen_ReturnsError_WithBadArgs$",
				Env:  []string{"GORM_DIALECT=mysql", "GORM_DSN=" + at.DSN("gorm") + "?charset=utf8mb4&parseTime=True"},
			}.Run(t, cases)
		})
	})
}
