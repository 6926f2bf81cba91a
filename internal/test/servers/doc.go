// Package servers gives tests real database servers: MariaDB and MySQL as
// processes in temporary directories, each ready in well under a second from a
// template that the machine keeps.
//
// It owns the servers that it starts and their directories, and removes both. It
// never skips a test: an engine that is not installed fails it, with the name of
// the script that installs it, since nothing is claimed for a server that was
// not tested.
//
// Most tests share servers and take a database of their own:
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
// A test that kills, pauses or reconfigures servers takes its own with [Start].
//
// Servers in tests do not flush each commit to the disk. They keep what they
// acknowledged through a kill -9, and would lose it in a power cut.
package servers
