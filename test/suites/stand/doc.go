// Package stand runs other people's test suites twice: at a plain server, and at
// a proxy before servers of the same kind. What passes there and not here is a
// defect of the proxy.
//
// It owns the two ends and the comparison of what a suite says of them. It never
// knows a suite: how one is run is in the table of the package above, and how its output is read in the package report.
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
// The cases that may fail through the proxy are listed with their reasons in exceptions.txt of the suite's directory, see [Excepted].
package stand
