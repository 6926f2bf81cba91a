package events

import (
	"context"
	"math"
	"time"

	"locus/config/etcd"
)

// Prune removes events that are older than [MaxAge], and the oldest ones if there are more than [MaxCount]. Any number of processes may
// call it at a time. It writes nothing if there is nothing to remove.
func Prune(ctx context.Context, kv *etcd.KV, now time.Time) error {
	if err := removeBefore(ctx, kv, instantOf(now.Add(-MaxAge))); err != nil {
		return err
	}
	n, err := kv.Count(ctx, Prefix, end)
	if err != nil || n <= MaxCount {
		return err
	}
	first, err := firstKept(ctx, kv, MaxCount)
	if err != nil {
		return err
	}
	return removeBefore(ctx, kv, first)
}

func removeBefore(ctx context.Context, kv *etcd.KV, first instant) error {
	from := first.before()
	if n, err := kv.Count(ctx, from, end); err != nil || n == 0 {
		return err
	}
	_, err := kv.Commit(ctx, nil, etcd.DeleteRange(from, end))
	return err
}

// firstKept returns an instant with at most limit events since then, and with few less. So a cluster with many events is not pruned after
// each of them.
func firstKept(ctx context.Context, kv *etcd.KV, limit int64) (instant, error) {
	low, high := instant(0), instant(math.MaxInt64) // too many events since low, not too many since high
	for high-low > 1 {
		middle := low + (high-low)/2
		n, err := kv.Count(ctx, Prefix, middle.before())
		switch {
		case err != nil:
			return 0, err
		case n > limit-limit/10:
			low = middle
		default:
			high = middle
		}
		if n <= limit-limit/10 && n >= limit-limit/5 {
			break
		}
	}
	return high, nil
}
