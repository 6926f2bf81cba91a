package mysql2

import (
	"testing"
	"time"

	"locus/test/servers"
	"locus/test/suites/node"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

func TestCases(t *testing.T) {
	servers.Mostly(t, servers.MySQL, func(t *testing.T, engine servers.Engine) {
		script := node.Script{Path: "cases.js", Engine: engine, Limit: 5 * time.Minute}
		stand.Start(t, engine).CheckAtOnce(t, script.Run)
	})
}
