package exec

import (
	"sync"

	"locus/proxy/backend"
	"locus/router"
)

// Look is a question to one shard.
type Look struct {
	Shard router.ShardName
	Text  string
}

// Find asks shards within the transaction, all at once, and tells which of them have a row. The error is the first one's.
func (r *Request) Find(looks []Look) (have []bool, failure error) {
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
	have = make([]bool, len(leases))
	for i, l := range leases {
		r.Observer.Trace().Answered(string(l.Shard), 0, CodeOf(errs[i]))
		if opened[i] {
			l.Opened()
		}
		if errs[i] == nil {
			have[i] = len(answers[i].Rows) > 0
			l.Done(l.Conn.Status())
			continue
		}
		if failure == nil {
			failure = errs[i]
		}
		l.Fail(errs[i])
	}
	return have, failure
}
