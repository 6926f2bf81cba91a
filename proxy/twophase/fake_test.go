package twophase

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router"
)

// fakeServers are shards in memory with the state that the protocol uses: the prepared branches, the committed parts of
// transactions, and the table of decisions.
type fakeServers struct {
	shards map[router.ShardName]*fakeServer
}

type fakeServer struct {
	prepared  map[string]Name // by transaction
	committed map[string]bool
	rows      map[string]row
	reserved  string // the decision that an open transaction has inserted
}

type row struct {
	committed bool
	shards    string
}

func newFakeServers(names ...router.ShardName) *fakeServers {
	f := &fakeServers{map[router.ShardName]*fakeServer{}}
	for _, n := range names {
		f.shards[n] = &fakeServer{prepared: map[string]Name{}, committed: map[string]bool{}, rows: map[string]row{}}
	}
	return f
}

func (f *fakeServers) String() string {
	var b strings.Builder
	for _, name := range f.Shards() {
		s := f.shards[name]
		fmt.Fprintln(&b, name, slices.Sorted(maps.Keys(s.prepared)), s.committed, s.rows, s.reserved)
	}
	return b.String()
}

func (f *fakeServers) Shards() []router.ShardName { return slices.Sorted(maps.Keys(f.shards)) }

var (
	transactions = regexp.MustCompile(`'(locus-[^'%]*)'`)
	errDuplicate = &mysql.MyError{Code: mysql.ER_DUP_ENTRY, State: "23000"}
	errLocked    = &mysql.MyError{Code: mysql.ER_LOCK_WAIT_TIMEOUT, State: "HY000"}
	errNoXID     = &mysql.MyError{Code: mysql.ER_XAER_NOTA, State: "XAE04"}
	errLost      = errors.New("connection lost")
)

func (f *fakeServers) Exec(_ context.Context, shard router.ShardName, sql string) (uint64, error) {
	s := f.shards[shard]
	var t string
	if m := transactions.FindStringSubmatch(sql); m != nil {
		t = m[1]
	}
	switch {
	case strings.HasPrefix(sql, "XA COMMIT"), strings.HasPrefix(sql, "XA ROLLBACK"):
		return 0, s.finish(t, strings.HasPrefix(sql, "XA COMMIT"))
	case strings.HasPrefix(sql, "DELETE"):
		for _, m := range transactions.FindAllStringSubmatch(sql, -1) {
			delete(s.rows, m[1])
		}
		return 0, nil
	case s.reserved == t:
		return 0, errLocked
	case strings.HasPrefix(sql, "UPDATE"):
		if s.rows[t].committed {
			return 1, nil
		}
		return 0, nil
	case strings.HasPrefix(sql, "INSERT"):
		if _, there := s.rows[t]; there {
			return 0, errDuplicate
		}
		s.rows[t] = row{}
		return 1, nil
	}
	return 0, fmt.Errorf("what is %s?", sql)
}

func (s *fakeServer) finish(t string, commit bool) error {
	if _, there := s.prepared[t]; !there {
		return errNoXID
	}
	delete(s.prepared, t)
	s.committed[t] = commit
	return nil
}

func (f *fakeServers) Query(_ context.Context, shard router.ShardName, sql string) (rows [][][]byte, err error) {
	s := f.shards[shard]
	switch {
	case sql == "XA RECOVER":
		for _, n := range s.prepared {
			rows = append(rows, recovered(n))
		}
	case strings.HasPrefix(sql, "SELECT committed"):
		if r, there := s.rows[transactions.FindStringSubmatch(sql)[1]]; there {
			rows = append(rows, [][]byte{truth(r.committed)})
		}
	case strings.HasPrefix(sql, "SELECT txn"):
		for t, r := range s.rows {
			if r.committed { // the others are kept for a week
				rows = append(rows, [][]byte{[]byte(t), truth(true), []byte(r.shards)})
			}
		}
	default:
		err = fmt.Errorf("what is %s?", sql)
	}
	return rows, err
}

// recovered is the row of a branch in the result of XA RECOVER.
func recovered(n Name) [][]byte {
	return [][]byte{
		strconv.AppendInt(nil, Format, 10),
		strconv.AppendInt(nil, int64(len(n.Transaction)), 10),
		strconv.AppendInt(nil, int64(len(n.Home)), 10),
		[]byte(n.Transaction + string(n.Home)),
	}
}

func truth(b bool) []byte {
	if b {
		return []byte("1")
	}
	return []byte("0")
}
