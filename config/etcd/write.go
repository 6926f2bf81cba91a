package etcd

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Guard says how a writer has seen a key; revision 0: it wasn't there.
type Guard struct {
	Key      string
	Revision int64
	// Prefix: it is of all keys that begin with Key, of which none was made or changed
	// after the revision. That one went away since doesn't matter.
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

// broken is the conflict that a look has found; nil: the guard holds.
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

// Write is what a commit does to one key: see [Put] and [Delete].
type Write struct {
	key string
	op  func(wholeKey string) clientv3.Op
}

// Put gives the key a value.
func Put(key string, value []byte) Write {
	return Write{key, func(whole string) clientv3.Op { return clientv3.OpPut(whole, string(value)) }}
}

// Delete takes the key away, if it is there.
func Delete(key string) Write {
	return Write{key, func(whole string) clientv3.Op { return clientv3.OpDelete(whole) }}
}

// CompareAndSwap writes the value if the key was last changed at the revision,
// or isn't there if the revision is 0, and says whether it did. On an error
// nothing was written, or the error is [ErrUnknown].
func (kv *KV) CompareAndSwap(ctx context.Context, key string, revision int64, value []byte) (bool, error) {
	_, err := kv.Commit(ctx, []Guard{{Key: key, Revision: revision}}, Put(key, value))
	if errors.As(err, new(*Conflict)) {
		return false, nil
	}
	return err == nil, err
}

// Commit makes all the writes at once if every guard holds, and gives etcd's
// revision with them; otherwise none, and the error is a [*Conflict] that names
// the first key whose guard doesn't hold. Any other error says that nothing was
// written, or is [ErrUnknown]. A server takes 128 writes at once unless its
// --max-txn-ops says more.
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

// conflict finds the guard that didn't hold in what the refused commit looked at.
func (kv *KV) conflict(guards []Guard, r *clientv3.TxnResponse) error {
	for i, g := range guards {
		if conflict := g.broken(kv.prefix+g.Key, r.Responses[i].GetResponseRange().Kvs); conflict != nil {
			return conflict
		}
	}
	return fmt.Errorf("write refused though every guard holds at revision %d: nothing was written", r.Header.Revision)
}

// keys names what a commit writes, in few words.
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
