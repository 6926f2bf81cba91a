package etcd

import (
	"context"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// KV is the keys under one prefix. Its arguments and results omit the prefix; only errors contain whole keys. It is
// safe for concurrent use.
type KV struct {
	client *Client
	prefix string
}

// KeyValue is a key and its value.
type KeyValue struct {
	Key      string
	Value    []byte
	Revision int64 // etcd's revision of the key's last change
	Leased   bool  // the key disappears with a process
}

// Under returns the keys with a prefix, which usually ends in a slash. "" means all keys.
func (c *Client) Under(prefix string) *KV { return &KV{c, prefix} }

// Under returns the keys with kv's prefix followed by another.
func (kv *KV) Under(prefix string) *KV { return &KV{kv.client, kv.prefix + prefix} }

// Get returns a key's value and the revision of its last change, or nil and 0 if the key doesn't exist. It sees every
// write that ended before the call.
func (kv *KV) Get(ctx context.Context, key string) (value []byte, revision int64, err error) {
	err = kv.client.request(ctx, func(ctx context.Context, conn *clientv3.Client) error {
		r, err := conn.Get(ctx, kv.prefix+key)
		if err == nil && len(r.Kvs) == 1 {
			value, revision = r.Kvs[0].Value, r.Kvs[0].ModRevision
		}
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read %s%s: %w", kv.prefix, key, err)
	}
	return value, revision, nil
}

// GetAt returns the value that a key had at an earlier revision of etcd, and the revision of its last change before that, or
// nil and 0 if it didn't exist. It is an error if etcd no longer has that revision.
func (kv *KV) GetAt(ctx context.Context, key string, at int64) (value []byte, revision int64, err error) {
	err = kv.client.request(ctx, func(ctx context.Context, conn *clientv3.Client) error {
		r, err := conn.Get(ctx, kv.prefix+key, clientv3.WithRev(at))
		if err == nil && len(r.Kvs) == 1 {
			value, revision = r.Kvs[0].Value, r.Kvs[0].ModRevision
		}
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read %s%s as of revision %d: %w", kv.prefix, key, at, err)
	}
	return value, revision, nil
}

// GetPrefix returns all keys with the prefix, in order and as of one revision of etcd. It sees every write that ended
// before the call.
func (kv *KV) GetPrefix(ctx context.Context, prefix string) (pairs []KeyValue, revision int64, err error) {
	return kv.getPrefix(ctx, prefix)
}

func (kv *KV) getPrefix(ctx context.Context, prefix string, more ...clientv3.OpOption) (pairs []KeyValue, revision int64, err error) {
	err = kv.client.request(ctx, func(ctx context.Context, conn *clientv3.Client) error {
		r, err := conn.Get(ctx, kv.prefix+prefix, append(more, clientv3.WithPrefix())...)
		if err != nil {
			return err
		}
		revision, pairs = r.Header.Revision, kv.pairs(r.Kvs)
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read everything under %s%s: %w", kv.prefix, prefix, err)
	}
	return pairs, revision, nil
}

// GetPrefixes is [KV.GetPrefix] of several prefixes as of one revision, which it returns.
func (kv *KV) GetPrefixes(ctx context.Context, prefixes ...string) (pairs [][]KeyValue, revision int64, err error) {
	ops := make([]clientv3.Op, len(prefixes))
	for i, prefix := range prefixes {
		ops[i] = clientv3.OpGet(kv.prefix+prefix, clientv3.WithPrefix())
	}
	err = kv.client.request(ctx, func(ctx context.Context, conn *clientv3.Client) error {
		r, err := conn.Txn(ctx).Then(ops...).Commit()
		if err != nil {
			return err
		}
		revision = r.Header.Revision
		for _, one := range r.Responses {
			pairs = append(pairs, kv.pairs(one.GetResponseRange().Kvs))
		}
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read everything under %s{%s}: %w", kv.prefix, strings.Join(prefixes, ","), err)
	}
	return pairs, revision, nil
}

func (kv *KV) pairs(kvs []*mvccpb.KeyValue) []KeyValue {
	pairs := make([]KeyValue, len(kvs))
	for i, p := range kvs {
		pairs[i] = KeyValue{strings.TrimPrefix(string(p.Key), kv.prefix), p.Value, p.ModRevision, p.Lease != 0}
	}
	return pairs
}

// Read is [KV.GetPrefix] of everything, for readers. With since, the result includes at least everything
// written up to that revision, which a watch has reported. If the member that is asked already has that
// revision, it answers without waiting for other members or for running writes.
func (kv *KV) Read(ctx context.Context, since int64) (values map[string][]byte, revision int64, err error) {
	var pairs []KeyValue
	if since > 0 {
		pairs, revision, err = kv.getPrefix(ctx, "", clientv3.WithSerializable())
	}
	if since == 0 || err == nil && revision < since { // nothing was asked yet, or a member that is behind
		pairs, revision, err = kv.getPrefix(ctx, "")
	}
	if err != nil {
		return nil, 0, err
	}
	values = make(map[string][]byte, len(pairs))
	for _, p := range pairs {
		values[p.Key] = p.Value
	}
	return values, revision, nil
}
