package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"locus/config/etcd"
)

// Order is what an operator wants of a proxy.
type Order string

// The orders.
const (
	// Drain: take no more clients, let what is under way end, and stop.
	Drain Order = "drain"
	// Evict: the same, without letting anything end.
	Evict Order = "evict"
)

func orderKey(id string) string { return "orders/" + id }

type order struct {
	Order Order     `json:"order"`
	By    string    `json:"by"`
	At    time.Time `json:"at"`
}

// Send tells a proxy what is wanted of it. That it was told says nothing of whether
// it obeys: its card goes away then.
func Send(ctx context.Context, kv *etcd.KV, id string, o Order, by string, now time.Time) error {
	text, err := json.Marshal(order{o, by, now.UTC().Round(time.Second)})
	if err != nil {
		return err
	}
	_, err = kv.Commit(ctx, nil, etcd.Put(orderKey(id), text))
	return err
}

// Obey hands the orders to one proxy over, until ctx ends. One from before the
// start was to a process that is gone, and is thrown away.
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

// take reads an order and takes it away, so that it counts once.
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
