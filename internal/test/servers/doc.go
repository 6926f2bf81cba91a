// Package servers provides real database servers to tests: MariaDB and MySQL as processes in temporary
// directories. Each starts in well under a second from a template that is kept on the machine.
//
// It owns the servers that it starts and their directories, and removes both. It never skips a test: if an
// engine is not installed, the test fails with the name of the script that installs it, because untested
// servers must not count as supported.
//
// Most tests share servers and use a database of their own:
//
//	func TestMain(m *testing.M) { servers.Main(m) }
//
//	func TestOrders(t *testing.T) {
//		servers.Engines(t, func(t *testing.T, engine servers.Engine) {
//			shards := servers.Shared(t, engine, 2)
//			database := servers.Database(t, shards...)
//			shards[0].Exec(t, "CREATE TABLE "+database+".orders (id BIGINT PRIMARY KEY)")
//			db := shards[0].DB(t, database)
//		})
//	}
//
// A test that kills, pauses or reconfigures servers starts its own with [Start].
//
// Servers in tests do not flush each commit to disk. Acknowledged commits survive a kill -9, but not a power
// cut.
package servers
