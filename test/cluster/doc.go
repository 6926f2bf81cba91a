// Package cluster runs whole clusters for tests: database servers, etcd, and proxies that also run moves, each a process of its own.
//
// It owns the processes and their directories, ends all of them with the test, and prints their logs if the test fails. A test can kill,
// stop and restart each of them, stop a proxy at a named point of a commit or of a step, and cut or slow a connection. It never decides
// what an answer must be: models of clients belong to the tests, apart from [Counters], which scripts use.
//
// A proxy's process is the test's own binary, wired like cmd/locus. [Main] runs it:
//
//	func TestMain(m *testing.M) { cluster.Main(m, nil) }
//
//	func TestSplit(t *testing.T) {
//		servers.Engines(t, func(t *testing.T, engine servers.Engine) {
//			c := cluster.Start(t, engine, cluster.Options{Shards: 2, Spare: 1, SQL: tables, Tables: declarations})
//			c.StartProxies()
//			db := c.DB(0)
//		})
//	}
//
// [Cluster.Locus] runs commands of the binary that ships.
//
// # Scripts
//
// A script is a text file that a DBA can read: one command a line, a comment after #. [RunScript] runs it. `testdata/scripts` has some.
//
//	start 3 shards, 2 with genes, and 3 proxies
//	run 4 clients
//	locus split --from s0 --to s2 --half
//	wait until split-1 is ready
//	stop the mover at fence
//	locus cutover split-1 --to 100% --yes
//	wait for the mover
//	kill mover
//	wait until split-1 is cut
//	expect no lost writes
//
// The commands are listed in [Commands].
package cluster
