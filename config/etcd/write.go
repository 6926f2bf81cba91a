package etcd

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Guard is the revision at which a writer has seen a key; 0 means that it didn't exist.
type Guard struct {
	Key      string
	Revision int64
	// Prefix means that the guard applies to all keys that begin with Key: none was created or changed after the
	// revision. Deletions don't matter.
	Prefix bool
}

func (g Guard) condition(whole string) clientv3.Cmp {
	if g.Prefix {
		return clientv3.Compare(clientv3.ModRevision(whole).WithPrefix(), "<", g.Revision+1)
	}
	return clientv3.Compare(clientv3.ModRevision(whole), "=", g.Revision)
}

func (g Guard) look(whole string) clientv3.Op {
	if g.Prefix {
		return clientv3.OpGet(whole, clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithMinModRev(g.Revision+1), clientv3.WithLimit(1))
	}
	return clientv3.OpGet(whole, clientv3.WithKeysOnly())
}

// broken returns the conflict found, or nil if the guard holds.
func (g Guard) broken(whole string, kvs []*mvccpb.KeyValue) *Conflict {
	found := int64(0)
	if len(kvs) == 1 {
		found, whole = kvs[0].ModRevision, string(kvs[0].Key)
	}
	if g.Prefix && found == 0 || !g.Prefix && found == g.Revision {
		return nil
	}
	return &Conflict{whole, g.Revision, found}
}

// Write is a commit's change of one key; see [Put] and [Delete].
type Write struct {
	key string
	op  func(wholeKey string) clientv3.Op
}

// Put sets a key's value.
func Put(key string, value []byte) Write {
	return Write{key, func(whole string) clientv3.Op { return clientv3.OpPut(whole, string(value)) }}
}

// Delete deletes a key if it exists.
func Delete(key string) Write {
	return Write{key, func(whole string) clientv3.Op { return clientv3.OpDelete(whole) }}
}

// CompareAndSwap writes the value if the key's last change was at the revision, or if the key doesn't exist and the
// revision is 0. It reports whether it wrote. After an error nothing was written, unless the error is [ErrUnknown].
func (kv *KV) CompareAndSwap(ctx context.Context, key string, revision int64, value []byte) (bool, error) {
	_, err := kv.Commit(ctx, []Guard{{Key: key, Revision: revision}}, Put(key, value))
	if errors.As(err, new(*Conflict)) {
		return false, nil
	}
	return err == nil, err
}

// Commit makes all the writes at once if every guard holds, and returns etcd's revision of the writes. If a guard
// doesn't hold, it writes nothing and returns a [*Conflict] that names the first such key. After any other error
// nothing was written, unless the error is [ErrUnknown]. A server accepts 128 writes at once unless its --max-txn-ops
// is larger.
func (kv *KV) Commit(ctx context.Context, guards []Guard, writes ...Write) (revision int64, err error) {
	conditions := make([]clientv3.Cmp, len(guards))
	look := make([]clientv3.Op, len(guards))
	for i, g := range guards {
		conditions[i], look[i] = g.condition(kv.prefix+g.Key), g.look(kv.prefix+g.Key)
	}
	ops := make([]clientv3.Op, len(writes))
	for i, w := range writes {
		ops[i] = w.op(kv.prefix + w.key)
	}
	var conflict error
	err = kv.client.request(ctx, func(ctx context.Context, conn *clientv3.Client) error {
		if err := ctx.Err(); err != nil {
			return notSent{err}
		}
		r, err := conn.Txn(ctx).If(conditions...).Then(ops...).Else(look...).Commit()
		if err != nil {
			return err
		}
		revision = r.Header.Revision
		if !r.Succeeded {
			conflict = kv.conflict(guards, r)
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", kv.keys(writes), writeError(err))
	}
	if conflict != nil {
		return 0, conflict
	}
	return revision, nil
}

// conflict finds the guard that didn't hold in the response of a refused commit.
func (kv *KV) conflict(guards []Guard, r *clientv3.TxnResponse) error {
	for i, g := range guards {
		if conflict := g.broken(kv.prefix+g.Key, r.Responses[i].GetResponseRange().Kvs); conflict != nil {
			return conflict
		}
	}
	return fmt.Errorf("write refused though every guard holds at revision %d: nothing was written", r.Header.Revision)
}

// keys returns a short list of the keys that a commit writes.
func (kv *KV) keys(writes []Write) string {
	if len(writes) == 0 {
		return "nothing"
	}
	first := kv.prefix + writes[0].key
	if more := len(writes) - 1; more > 0 {
		return fmt.Sprintf("%s and %d more", first, more)
	}
	return first
}
