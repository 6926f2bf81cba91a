package fleet

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// during lets something happen under load, and checks the failures in that time.
func (f *fleet) during(l *load, what string, may func([]failure) error, happen func()) {
	f.t.Helper()
	before := len(l.failedSoFar())
	happen()
	l.goesOn(f.t, 50)
	failures := l.failedSoFar()[before:]
	f.t.Logf("%s: %d failures, %d orders so far", what, len(failures), l.done.Load())
	for _, failure := range failures[:min(len(failures), customers)] {
		f.t.Logf("%s: %s: %v", failure.at.Format("15:04:05.000"), failure.what, failure.err)
	}
	if err := may(failures); err != nil {
		f.t.Errorf("%s: %v", what, err)
		l.nothingFailed(f.t, before)
	}
}

func nothing(failures []failure) error {
	if len(failures) > 0 {
		return fmt.Errorf("%d statements failed", len(failures))
	}
	return nil
}

// underWay bounds the number of interrupted statements: each customer has one transaction or statement at a time.
func underWay(failures []failure) error {
	if len(failures) > customers {
		return fmt.Errorf("%d statements failed, of %d customers", len(failures), customers)
	}
	return nil
}

// lostProxy permits the failures of statements that were running at a lost proxy.
func lostProxy(failures []failure) error {
	for _, f := range failures {
		if refused := new(mysql.MySQLError); errors.As(f.err, &refused) {
			return fmt.Errorf("%s: %w", f.what, f.err)
		}
	}
	return underWay(failures)
}

// lostLeader permits the failures of lostProxy, while nodes of etcd are stopped. A statement that needs an ID
// waits until there is another leader and clients have noticed the frozen node. On a busy machine it may wait
// too long and fail with an error that says that no row was inserted.
func lostLeader(failures []failure) error {
	rest := slices.DeleteFunc(slices.Clone(failures), func(f failure) bool {
		refused := new(mysql.MySQLError)
		return errors.As(f.err, &refused) && strings.HasSuffix(refused.Message, ": no row was inserted")
	})
	if late := len(failures) - len(rest); late > customers {
		return fmt.Errorf("%d statements got no ID, of %d customers", late, customers)
	}
	return lostProxy(rest)
}

func (f *fleet) kill(i int) {
	f.t.Helper()
	f.proxies[i].Kill()
	f.proxies[i].Start(f.t)
	f.untilReady(i)
}
