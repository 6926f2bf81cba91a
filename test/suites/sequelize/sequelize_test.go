package sequelize

import (
	"testing"
	"time"

	"locus/test/servers"
	"locus/test/suites/node"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

func TestCases(t *testing.T) {
	servers.Mostly(t, servers.MariaDB, func(t *testing.T, engine servers.Engine) {
		script := node.Script{Path: "cases.js", Engine: engine, Limit: 5 * time.Minute}
		stand.Start(t, engine).Check(t, script.Run)
	})
}

func TestShop(t *testing.T) {
	servers.Mostly(t, servers.MariaDB, func(t *testing.T, engine servers.Engine) {
		node.Script{Path: "shop.js", Engine: engine, Limit: 5 * time.Minute}.Shop(t, stand.Start(t, engine))
	})
}
