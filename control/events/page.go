package events

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"locus/config/etcd"
)

// Query selects events.
type Query struct {
	Kinds   []Kind    // empty: all
	Subject string    // a part of the subject, in any case; empty: all
	Since   time.Time // zero: all that are kept
	Until   time.Time // exclusive; zero: now
	After   string    // continues after the page whose Next this is
	Limit   int       // number of events in a page; 0: 100
}

// Limits of a page.
const (
	defaultLimit = 100
	// MaxLimit is the greatest number of events on a page.
	MaxLimit = 1000
	// maxScanned is how many events are read for one page. A query that selects few of them has pages with fewer events.
	maxScanned = 2500
	batch      = 500
)

// Page contains events, the latest first.
type Page struct {
	Events []Event
	// Next is the After of the query for earlier events; empty: there are none. A page may be empty and have a Next.
	Next string
}

// Read returns a page.
func Read(ctx context.Context, kv *etcd.KV, q Query) (Page, error) {
	p, err := q.read(ctx, kv)
	// Events of one millisecond are in the order of their transactions, and those of one transaction in the order of their keys.
	slices.SortStableFunc(p.Events, func(a, b Event) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.revision, a.revision)) })
	return p, err
}

func (q Query) read(ctx context.Context, kv *etcd.KV) (Page, error) {
	limit := min(cmp.Or(q.Limit, defaultLimit), MaxLimit)
	from, to := q.bounds()
	var p Page
	for scanned := 0; from < to; {
		n := min(batch, maxScanned-scanned)
		if q.all() {
			n = min(n, limit-len(p.Events)+1)
		}
		pairs, _, err := kv.GetFirst(ctx, from, to, n)
		if err != nil {
			return Page{}, err
		}
		for _, pair := range pairs {
			if len(p.Events) == limit {
				return p, nil
			}
			p.Next = strings.TrimPrefix(pair.Key, Prefix)
			// An event of a newer version may be unreadable. It is left out.
			if e, err := read(pair); err == nil && q.selects(e) {
				p.Events = append(p.Events, e)
			}
		}
		if scanned += len(pairs); len(pairs) < n {
			break
		}
		if scanned >= maxScanned {
			return p, nil
		}
		from = Prefix + p.Next + "\x00"
	}
	p.Next = ""
	return p, nil
}

// ReadAll returns all events that a query selects, at most as many as its limit.
func ReadAll(ctx context.Context, kv *etcd.KV, q Query) (list []Event, more bool, err error) {
	limit := q.Limit
	for {
		q.Limit = min(MaxLimit, limit-len(list))
		p, err := Read(ctx, kv, q)
		if err != nil {
			return nil, false, err
		}
		list = append(list, p.Events...)
		if q.After = p.Next; p.Next == "" || len(list) >= limit {
			return list, p.Next != "", nil
		}
	}
}

// bounds returns the range of keys.
func (q Query) bounds() (from, to string) {
	from, to = Prefix, end
	if !q.Until.IsZero() {
		from = instantOf(q.Until).before()
	}
	if !q.Since.IsZero() {
		to = instantOf(q.Since).before()
	}
	if q.After != "" {
		from = max(from, Prefix+q.After+"\x00")
	}
	return from, to
}

// all reports whether the query selects every event of its range.
func (q Query) all() bool { return len(q.Kinds) == 0 && q.Subject == "" }

func (q Query) selects(e Event) bool {
	return (len(q.Kinds) == 0 || slices.Contains(q.Kinds, e.Kind)) &&
		strings.Contains(strings.ToLower(e.Subject), strings.ToLower(q.Subject))
}
