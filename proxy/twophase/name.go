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

// Format identifies our branches among a server's branches. It is "locu" in ASCII.
const Format = 0x6c6f6375

// Name is the name of a transaction's branches. Servers know it as an XA identifier:
//
//	gtrid   locus-CLUSTER-PROCESS-NUMBER   CLUSTER is 16 hexadecimal digits
//	bqual   the home shard
//
// PROCESS is the holder and a run ID. The holder, 16 hexadecimal digits, identifies the process whose connections the
// transaction used. The run ID, 11 letters and digits, is unique to a run of the process.
//
// A gtrid is never reused. All branches have the same identifier, since each is on a server of its own.
type Name struct {
	Transaction string
	Home        router.ShardName
}

// xid formats the identifier for XA statements. Its characters need no escaping.
func (n Name) xid() string {
	return fmt.Sprintf("'%s','%s',%d", n.Transaction, n.Home, Format)
}

// Start, End, Prepare, Commit, CommitOnePhase and Rollback return a branch's XA statements.
func (n Name) Start() string          { return "XA START " + n.xid() }
func (n Name) End() string            { return "XA END " + n.xid() }
func (n Name) Prepare() string        { return "XA PREPARE " + n.xid() }
func (n Name) Commit() string         { return "XA COMMIT " + n.xid() }
func (n Name) CommitOnePhase() string { return "XA COMMIT " + n.xid() + " ONE PHASE" }
func (n Name) Rollback() string       { return "XA ROLLBACK " + n.xid() }

const (
	holderLength = 16
	runLength    = 11 // characters of 5 bits each
)

// names generates unique names for one cluster.
type names struct {
	cluster string // prefix of all names of the cluster
	process string // prefix of this process's names
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

// parse reads a row of XA RECOVER: the format, the lengths of the gtrid and the bqual, and both joined. It returns
// false for branches of others.
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

// holder returns the holder of one of the cluster's transactions. It returns false for a name by an older version of
// the proxy, which has no holder.
func (n *names) holder(transaction string) (string, bool) {
	process, _, _ := strings.Cut(strings.TrimPrefix(transaction, n.cluster), "-")
	if len(process) != holderLength+runLength {
		return "", false
	}
	return process[:holderLength], true
}
