package events

import (
	"context"
	"slices"
	"time"

	"locus/config/etcd"
)

// late is the age of events that Follow still finds. Clocks differ, and a process writes its events later if etcd doesn't answer.
const late = time.Hour

// Follow calls show for the latest events that a query selects, and then for each new one, the earliest first, until ctx ends.
func Follow(ctx context.Context, kv *etcd.KV, q Query, show func([]Event)) error {
	_, seen, err := kv.GetFirst(ctx, Prefix, end, 1)
	if err != nil {
		return err
	}
	list, _, err := ReadAll(ctx, kv, q)
	if err != nil {
		return err
	}
	shown := make(map[string]bool, len(list))
	for _, e := range list {
		shown[e.ID] = true
	}
	slices.Reverse(list)
	show(list)
	for range kv.Under(Prefix).Changes(ctx, seen) {
		list, until, err := changed(ctx, kv, seen, q)
		if err != nil {
			continue // the watch reports again
		}
		seen = until
		if list = slices.DeleteFunc(list, func(e Event) bool { return shown[e.ID] }); len(list) > 0 {
			show(list)
		}
	}
	return ctx.Err()
}

// changed returns the events that were written after a revision, the earliest first.
func changed(ctx context.Context, kv *etcd.KV, after int64, q Query) (list []Event, revision int64, err error) {
	pairs, revision, err := kv.GetChanged(ctx, Prefix, instantOf(time.Now().Add(-late)).before(), after)
	if err != nil {
		return nil, 0, err
	}
	for _, pair := range slices.Backward(pairs) {
		if e, err := read(pair); err == nil && q.selects(e) {
			list = append(list, e)
		}
	}
	return list, revision, nil
}
