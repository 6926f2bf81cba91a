package exec

import (
	"sync"

	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/router"
	"locus/router/plan"
)

// Look is a query to one shard.
type Look struct {
	Shard router.ShardName
	Text  string
}

// Found describes the rows that a lookup has found on a shard.
type Found uint8

const (
	None    Found = iota
	Staying       // some, and the statement changes the gene of none
	Moved         // some, and the statement changes the gene of at least one
)

// Find sends the queries to their shards within the transaction, all at once, and returns what each shard has. The error is the
// first shard's that fails.
func (x *Execution) Find(looks []Look) (found []Found, failure error) {
	parts := make([]Part, len(looks))
	for i, look := range looks {
		parts[i].Shard = look.Shard
	}
	leases, err := x.acquire(parts, 0)
	if err != nil {
		return nil, err
	}
	answers, errs, opened := make([]*backend.Rows, len(leases)), make([]error, len(leases)), make([]bool, len(leases))
	var querying sync.WaitGroup
	for i, l := range leases {
		x.Observer.Sent(l)
		opening := l.Opening()
		querying.Go(func() {
			for _, text := range opening {
				if _, errs[i] = l.Conn.Own().Exec(x.Context, text); errs[i] != nil {
					return
				}
				opened[i] = true
			}
			answers[i], errs[i] = l.Conn.Own().Query(x.Context, looks[i].Text)
		})
	}
	querying.Wait()
	found = make([]Found, len(leases))
	for i, l := range leases {
		x.Observer.Trace().Answered(string(l.Shard), 0, txn.CodeOf(errs[i]))
		if opened[i] {
			l.Opened()
		}
		if errs[i] == nil {
			found[i] = readFound(answers[i])
			l.Done(l.Conn.Status())
			continue
		}
		if failure == nil {
			failure = errs[i]
		}
		l.Fail(errs[i])
	}
	return found, failure
}

// readFound returns what a shard's answer to a lookup means.
func readFound(answer *backend.Rows) Found {
	switch {
	case len(answer.Rows) == 0:
		return None
	case string(answer.Rows[0][0]) == plan.Moved:
		return Moved
	}
	return Staying
}
