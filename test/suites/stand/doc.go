// Package stand runs other people's test suites twice: at a plain server, and at
// a proxy before servers of the same kind. What passes there and not here is a
// defect of the proxy.
//
// It owns the two ends and the comparison of what a suite says of them. It never
// knows a suite: how one is run and how its output is read belongs to the
// suite's own package beside it.
//
//	func TestMain(m *testing.M) { servers.Main(m) }
//
//	func TestSuite(t *testing.T) {
//		servers.Mostly(t, servers.MySQL, func(t *testing.T, engine servers.Engine) {
//			s := stand.Start(t, engine)
//			s.Check(t, func(t *testing.T, at stand.Endpoint, cases []string) stand.Outcomes {
//				at.Database(t, "suite")
//				run := stand.Command{Dir: dir, Args: []string{"./run", at.Addr()}, Limit: time.Minute}
//				return parse(run.Output(t))
//			})
//		})
//	}
//
// The cases that may fail through the proxy stand with their reasons in
// exceptions.txt beside the test, see [Exceptions].
package stand
