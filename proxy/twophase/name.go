package twophase

import (
	"crypto/rand"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"sync/atomic"

	"locus/router"
)

// Format marks our branches among those that a server has: "locu" in ASCII.
const Format = 0x6c6f6375

// Name is what a transaction's branches are called. The servers know it as an XA
// identifier:
//
//	gtrid   locus-CLUSTER-PROCESS-NUMBER   CLUSTER is 16 hexadecimal digits
//	bqual   the home shard
//
// PROCESS is its holder, 16 hexadecimal digits that tell whose connections the
// transaction was on, and 11 letters and digits that no other run of it has.
//
// A gtrid is never given twice. All branches have the same identifier: each is
// on a server of its own.
type Name struct {
	Transaction string
	Home        router.ShardName
}

// xid writes the identifier for XA statements. Its letters need no quoting.
func (n Name) xid() string {
	return fmt.Sprintf("'%s','%s',%d", n.Transaction, n.Home, Format)
}

// Start, End, Prepare, Commit, CommitOnePhase and Rollback are the statements of
// a branch's life.
func (n Name) Start() string          { return "XA START " + n.xid() }
func (n Name) End() string            { return "XA END " + n.xid() }
func (n Name) Prepare() string        { return "XA PREPARE " + n.xid() }
func (n Name) Commit() string         { return "XA COMMIT " + n.xid() }
func (n Name) CommitOnePhase() string { return "XA COMMIT " + n.xid() + " ONE PHASE" }
func (n Name) Rollback() string       { return "XA ROLLBACK " + n.xid() }

const (
	holderLength = 16
	runLength    = 11 // of 5 bits each
)

// names gives names of one cluster that nobody has given before.
type names struct {
	cluster string // what all of the cluster's begin with
	process string // what this process's begin with
	last    atomic.Uint64
}

func newNames(cluster, holder string) *names {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(cluster)) // never fails
	n := &names{cluster: fmt.Sprintf("locus-%016x-", hash.Sum64())}
	n.process = n.cluster + holder + strings.ToLower(rand.Text()[:runLength]) + "-"
	return n
}

func (n *names) next(home router.ShardName) Name {
	return Name{n.process + strconv.FormatUint(n.last.Add(1), 36), home}
}

// parse reads a row of XA RECOVER: format, length of the gtrid, length of the
// bqual, both in one. Branches of others are not ok.
func (n *names) parse(row [][]byte) (Name, bool) {
	if len(row) != 4 || string(row[0]) != strconv.Itoa(Format) {
		return Name{}, false
	}
	length, err := strconv.Atoi(string(row[1]))
	if err != nil || length < 0 || length > len(row[3]) {
		return Name{}, false
	}
	transaction, home := string(row[3][:length]), router.ShardName(row[3][length:])
	if !strings.HasPrefix(transaction, n.cluster) || home.Validate() != nil {
		return Name{}, false
	}
	return Name{transaction, home}, true
}

// holder is that of a transaction of the cluster; an older version of the proxy
// names none.
func (n *names) holder(transaction string) (string, bool) {
	process, _, _ := strings.Cut(strings.TrimPrefix(transaction, n.cluster), "-")
	if len(process) != holderLength+runLength {
		return "", false
	}
	return process[:holderLength], true
}
