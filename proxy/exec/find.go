package exec

import (
	"sync"

	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/router"
	"locus/router/plan"
)

// Look is a question to one shard.
type Look struct {
	Shard router.ShardName
	Text  string
}

// Found is what a shard has of the rows that are looked for.
type Found uint8

const (
	None    Found = iota
	Staying       // some, each of the gene that the statement gives it, if it gives it one
	Moved         // one of another gene among them
)

// Find asks shards within the transaction, all at once, and tells what they have. The error is the first one's.
func (r *Request) Find(looks []Look) (found []Found, failure error) {
	parts := make([]Part, len(looks))
	for i, look := range looks {
		parts[i].Shard = look.Shard
	}
	leases, err := Several{Environment: r.Environment}.acquire(parts)
	if err != nil {
		return nil, err
	}
	answers, errs, opened := make([]*backend.Rows, len(leases)), make([]error, len(leases)), make([]bool, len(leases))
	var asking sync.WaitGroup
	for i, l := range leases {
		r.Observer.Sent(l)
		opening := l.Opening()
		asking.Go(func() {
			for _, text := range opening {
				if _, errs[i] = l.Conn.Own().Exec(r.Context, text); errs[i] != nil {
					return
				}
				opened[i] = true
			}
			answers[i], errs[i] = l.Conn.Own().Query(r.Context, looks[i].Text)
		})
	}
	asking.Wait()
	found = make([]Found, len(leases))
	for i, l := range leases {
		r.Observer.Trace().Answered(string(l.Shard), 0, txn.CodeOf(errs[i]))
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

// readFound reads a shard's answer: no row, or whether one is of another gene.
func readFound(answer *backend.Rows) Found {
	switch {
	case len(answer.Rows) == 0:
		return None
	case string(answer.Rows[0][0]) == plan.Moved:
		return Moved
	}
	return Staying
}
