// Package mtr runs cases of MariaDB's own test suite (the packages mariadb-test
// and mariadb-test-data) over one logical server: each case on a plain server,
// and through a proxy before two shards of the same engine. On MariaDB both must
// give the result that the suite knows. On MySQL, which knows none of its own for
// these cases, the proxy must give what MySQL gives, errors included.
//
// It owns the list of cases that pass, cases.txt, that of those that cannot pass
// through a proxy, exceptions.<engine>.txt, each with its reason, and what a server must
// look like for the suite's results to be right. It never changes a case, nor
// what it expects.
//
//	go test ./test/suites/mtr                the cases marked quick
//	go test -tags long ./test/suites/mtr     all of cases.txt, and the exceptions
//
//	LOCUS_MTR='^main\.join' LOCUS_MTR_PROTOCOLS='text ps' LOCUS_MTR_OUT=/tmp/mtr \
//		go test ./test/suites/mtr -run Cases/mariadb -v
//
// tells what becomes of other cases, and leaves what was said of each in a file.
package mtr

import (
	"os"
	"testing"

	"locus/internal/test/servers"
)

// timeZone is the time zone in which the suite's results were recorded. Servers and clients read it from the environment.
const timeZone = "GMT-3"

func TestMain(m *testing.M) {
	if err := os.Setenv("TZ", timeZone); err != nil {
		panic(err)
	}
	servers.Main(m)
}
