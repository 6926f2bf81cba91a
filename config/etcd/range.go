package etcd

import (
	"context"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// GetFirst returns the first keys, in order, of those from one key up to another one, which is not included. It returns at
// most as many as limit. The cost depends on the keys that it returns, not on those that there are.
func (kv *KV) GetFirst(ctx context.Context, from, to string, limit int) (pairs []KeyValue, revision int64, err error) {
	return kv.getRange(ctx, from, to, clientv3.WithLimit(int64(limit)))
}

// GetChanged returns the keys, in order, from one up to another one that were written after a revision.
func (kv *KV) GetChanged(ctx context.Context, from, to string, after int64) (pairs []KeyValue, revision int64, err error) {
	return kv.getRange(ctx, from, to, clientv3.WithMinModRev(after+1))
}

func (kv *KV) getRange(ctx context.Context, from, to string, more ...clientv3.OpOption) (pairs []KeyValue, revision int64, err error) {
	err = kv.client.request(ctx, func(ctx context.Context, conn *clientv3.Client) error {
		r, err := conn.Get(ctx, kv.prefix+from, append(more, clientv3.WithRange(kv.prefix+to))...)
		if err != nil {
			return err
		}
		revision, pairs = r.Header.Revision, kv.pairs(r.Kvs)
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read %s%s up to %s: %w", kv.prefix, from, to, err)
	}
	return pairs, revision, nil
}

// Count returns the number of keys from one up to another one. It reads none of them.
func (kv *KV) Count(ctx context.Context, from, to string) (n int64, err error) {
	err = kv.client.request(ctx, func(ctx context.Context, conn *clientv3.Client) error {
		r, err := conn.Get(ctx, kv.prefix+from, clientv3.WithRange(kv.prefix+to), clientv3.WithCountOnly())
		if err == nil {
			n = r.Count
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("count %s%s up to %s: %w", kv.prefix, from, to, err)
	}
	return n, nil
}

// DeleteRange deletes the keys from one up to another one, which is not deleted.
func DeleteRange(from, to string) Write {
	return Write{from, func(whole string) clientv3.Op {
		return clientv3.OpDelete(whole, clientv3.WithRange(strings.TrimSuffix(whole, from)+to))
	}}
}
