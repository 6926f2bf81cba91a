package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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

// requestedKey is the key of the IDs of the live processes that were requested to stop. Unlike a request, it stays after the process has
// read the request.
const requestedKey = "stopping"

// Stops contains the processes that are about to stop, as far as they answer: those that drain, and those that were requested to stop.
type Stops struct {
	IDs map[string]bool

	requested []string
	revision  int64 // of requested
}

// Stopping returns the processes that are about to stop.
func Stopping(ctx context.Context, kv *etcd.KV) (*Stops, error) {
	text, revision, err := kv.Get(ctx, requestedKey)
	if err != nil {
		return nil, err
	}
	s := &Stops{IDs: map[string]bool{}, revision: revision}
	if revision > 0 {
		_ = json.Unmarshal(text, &s.requested) // the next request replaces a list that can't be read
	}
	for _, id := range s.requested {
		s.IDs[id] = true
	}
	beats, err := Beats(ctx, kv)
	if err != nil {
		return nil, err
	}
	for id, b := range beats.By {
		s.IDs[id] = s.IDs[id] || b.Draining
	}
	return s, nil
}

// Send requests that a process stops. It does not wait until the process obeys. When it has, its card disappears. If another process was
// requested to stop since s was read, nothing is requested, because two requests at the same moment could stop the last two proxies.
func (s *Stops) Send(ctx context.Context, kv *etcd.KV, id string, o Order, by string, now time.Time) error {
	text, err := json.Marshal(order{o, by, now.UTC().Round(time.Second)})
	if err != nil {
		return err
	}
	list, err := s.with(ctx, kv, id)
	if err != nil {
		return err
	}
	what := "was requested to stop: it accepts no more clients, and running statements may end"
	if o == Evict {
		what = "was requested to stop at once"
	}
	e := events.Event{At: now, Kind: events.Drain, Subject: "process " + id, What: what, By: by}
	writes, _ := events.Add([]etcd.Write{etcd.Put(orderKey(id), text), etcd.Put(requestedKey, list)}, e)
	_, err = kv.Commit(ctx, []etcd.Guard{{Key: requestedKey, Revision: s.revision}}, writes...)
	if errors.As(err, new(*etcd.Conflict)) {
		return fmt.Errorf("process %s was not requested to stop, because another request to stop a process came first; locus proxies list shows which run; repeat the request", id)
	}
	return err
}

// with returns the list of requested processes with another one, without those that have ended.
func (s *Stops) with(ctx context.Context, kv *etcd.KV, id string) ([]byte, error) {
	cards, err := Processes(ctx, kv)
	if err != nil {
		return nil, err
	}
	list := []string{id}
	for _, c := range cards {
		if c.ID != id && slices.Contains(s.requested, c.ID) {
			list = append(list, c.ID)
		}
	}
	return json.Marshal(list)
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
