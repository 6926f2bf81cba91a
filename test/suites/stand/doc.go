// Package stand runs test suites of other projects twice: on a plain server, and on a proxy in front of servers
// of the same kind. A case that passes on the server and not through the proxy is a defect of the proxy.
//
// It owns the two ends and the comparison of the outcomes. It knows nothing about the suites: how one is run is
// in the table of the package above, and package report reads their output.
//
//	func TestMain(m *testing.M) { servers.Main(m) }
//
//	func TestSuite(t *testing.T) {
//		servers.Mostly(t, servers.MySQL, func(t *testing.T, engine servers.Engine) {
//			s := stand.Start(t, engine)
//			s.Check(t, "suite", func(t *testing.T, at stand.Endpoint, cases []string) stand.Outcomes {
//				at.Database(t, "suite")
//				run := stand.Command{Dir: dir, Args: []string{"./run", at.Addr()}, Limit: time.Minute}
//				return parse(run.Output(t))
//			})
//		})
//	}
//
// The cases that may fail through the proxy are listed with their reasons in exceptions.txt of the suite's
// directory, see [Excepted].
package stand
