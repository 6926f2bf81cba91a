package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"locus/config/etcd"
	"locus/control/events"
)

// Order is an operator's request to a proxy.
type Order string

// The requests.
const (
	// Drain: accept no more clients, let running transactions end, and stop.
	Drain Order = "drain"
	// Evict: the same, without waiting for transactions.
	Evict Order = "evict"
)

const orders = "orders/"

func orderKey(id string) string { return orders + id }

type order struct {
	Order Order     `json:"order"`
	By    string    `json:"by"`
	At    time.Time `json:"at"`
}

// Send sends a request to a proxy. It does not wait until the proxy obeys. When it has, its card disappears.
func Send(ctx context.Context, kv *etcd.KV, id string, o Order, by string, now time.Time) error {
	text, err := json.Marshal(order{o, by, now.UTC().Round(time.Second)})
	if err != nil {
		return err
	}
	what := "was requested to stop: it accepts no more clients, and running statements may end"
	if o == Evict {
		what = "was requested to stop at once"
	}
	e := events.Event{At: now, Kind: events.Drain, Subject: "process " + id, What: what, By: by}
	writes, _ := events.Add([]etcd.Write{etcd.Put(orderKey(id), text)}, e)
	_, err = kv.Commit(ctx, nil, writes...)
	return err
}

// Stopping returns the IDs of the processes that were requested to stop, as far as they answer: those that drain, and those that have
// not read the request yet.
func Stopping(ctx context.Context, kv *etcd.KV) (map[string]bool, error) {
	pairs, _, err := kv.GetPrefix(ctx, orders)
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, p := range pairs {
		ids[strings.TrimPrefix(p.Key, orders)] = true
	}
	beats, err := Beats(ctx, kv)
	if err != nil {
		return nil, err
	}
	for id, b := range beats.By {
		ids[id] = ids[id] || b.Draining
	}
	return ids, nil
}

// Obey calls obey with each request to one proxy, until ctx ends. It discards a request from before its start,
// because that was for an earlier process.
func Obey(ctx context.Context, kv *etcd.KV, id string, obey func(o Order, by string)) error {
	old := true
	return attend(ctx, kv.Under(orderKey(id)), func() error {
		o, found, err := take(ctx, kv, id)
		if err != nil {
			return err
		}
		if found && !old {
			obey(o.Order, o.By)
		}
		old = false
		return nil
	})
}

// take reads and deletes a request, so that it is executed once.
func take(ctx context.Context, kv *etcd.KV, id string) (o order, found bool, err error) {
	text, revision, err := kv.Get(ctx, orderKey(id))
	if err != nil || revision == 0 {
		return o, false, err
	}
	_, err = kv.Commit(ctx, []etcd.Guard{{Key: orderKey(id), Revision: revision}}, etcd.Delete(orderKey(id)))
	if err != nil && !errors.Is(err, etcd.ErrUnknown) {
		return o, false, err
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return o, false, fmt.Errorf("%s: %w", orderKey(id), err)
	}
	return o, true, nil
}
