package stamp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/idgen/cipher"
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/proxy/backend"
	"locus/router/catalog"
)

// failsWith issues nothing.
type failsWith struct{ error }

func (f failsWith) Issue(context.Context, *catalog.Table, gene.Gene, int) (orderid.Layout, orderid.ID, error) {
	return orderid.Layout{}, orderid.ID{}, f.error
}

func (f failsWith) Next(context.Context, *catalog.Table, int) (uint64, error) { return 0, f.error }

func (f failsWith) Raise(context.Context, *catalog.Table, uint64) error { return f.error }

// unissued stamps one row in each way that needs a number, from generators that fail with an error.
func unissued(t *testing.T, ctx context.Context, cause error) map[string]error {
	t.Helper()
	f, all := newFixture(t), map[string]error{}
	for way, sql := range map[string]string{
		"an ID":            "insert into signed (user_id) values (1)",
		"a stamped column": "insert into tickets (user_id) values (1)",
		"a number":         "insert into numbered (user_id) values (1)",
		"a given number":   "insert into numbered (n, user_id) values (7, 1)",
	} {
		p, err := f.plan(sql, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := Stamper{Numbers: failsWith{cause}, Make: func(context.Context, string, []gene.Gene) ([]string, error) { return nil, cause }}
		ids := IDs(&counter{})
		if way == "an ID" {
			ids = failsWith{cause}
		}
		_, all[way] = s.StampText(ctx, p.plan, &p.values, f.m, ids, func() *cipher.Ring { return f.ring })
	}
	return all
}

// An INSERT whose number can't be issued was not sent to any shard, whatever happened at the generator's own server.
func TestNotIssued(t *testing.T) {
	for _, cause := range []error{
		&backend.LostError{Shard: "s1", Addr: "a:1", Sent: true, Err: errors.New("timeout")},
		&backend.UnavailableError{Shard: "s1", Addr: "a:1", Reason: errors.New("refused")},
		&backend.LoginError{Shard: "s1", Addr: "a:1", Err: errors.New("refused")},
		&backend.ExhaustedError{Shard: "s1"},
		&mysql.MyError{Code: 1213, State: "40001", Message: "Deadlock found"},
		errors.New("etcd can't be reached"),
	} {
		for way, err := range unissued(t, t.Context(), fmt.Errorf("generator: %w", cause)) {
			if err == nil || !strings.HasSuffix(err.Error(), ": no row was inserted") {
				t.Errorf("%s, %T: %v", way, cause, err)
			}
			lost, unavailable, login := new(*backend.LostError), new(*backend.UnavailableError), new(*backend.LoginError)
			if errors.As(err, lost) || errors.As(err, unavailable) || errors.As(err, login) || errors.As(err, new(*backend.ExhaustedError)) || errors.As(err, new(*mysql.MyError)) {
				t.Errorf("%s: the statement fails with the generator's %T", way, cause)
			}
		}
	}
	for way, err := range unissued(t, t.Context(), fmt.Errorf("generator: %w", orderid.ErrSequenceExhausted)) {
		if !errors.Is(err, orderid.ErrSequenceExhausted) {
			t.Errorf("%s: %v", way, err)
		}
	}
}

// A statement that was ended during the wait fails with the reason for its end.
func TestEndedBeforeItWasIssued(t *testing.T) {
	killed := &mysql.MyError{Code: mysql.ER_QUERY_INTERRUPTED, Message: "Query execution was interrupted"}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(killed)
	for way, err := range unissued(t, ctx, &backend.LostError{Sent: true, Err: context.Canceled}) {
		if e, is := errors.AsType[*mysql.MyError](err); !is || e != killed {
			t.Errorf("%s: %v", way, err)
		}
	}
}
