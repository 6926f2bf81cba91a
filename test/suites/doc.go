// Package suites runs test suites and applications that others wrote: at a plain server, and through a proxy in front of servers of the
// same kind. A case that passes at the plain server and not through the proxy is a defect of the proxy.
//
// It owns the table of the suites (table_test.go) and the ways to run one. The comparison belongs to the package stand, the formats of
// reports to the package report. Suites that are more than a comparison are packages below this one. A directory NAME contains the
// exceptions of the suite NAME, each with its reason, and files of ours that the suite needs.
//
//	go test -v ./test/suites -run TestSuites/knex                          on the engine of the short scale
//	LOCUS_TEST_SCALE=long go test -v ./test/suites -run TestSuites/knex/mysql
package suites
