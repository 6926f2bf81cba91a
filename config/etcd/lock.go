package etcd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// ErrHeld means that another process holds a lock.
var ErrHeld = errors.New("held by another process")

// Lock is a key that one process holds as long as it lives and reaches etcd.
type Lock struct {
	lost    chan struct{}
	cancel  context.CancelFunc
	keeping sync.WaitGroup
}

// Lock takes a key that nobody holds. Its error is [ErrHeld], or means that etcd could not be reached. In that case the
// key may be taken for one time-to-live.
func (kv *KV) Lock(ctx context.Context, key string, value []byte, ttl time.Duration) (*Lock, error) {
	p := kv.Presence(key, value, ttl)
	asked := time.Now()
	lease, err := p.grant(ctx)
	if err != nil {
		return nil, fmt.Errorf("lock %s%s: %w", kv.prefix, key, err)
	}
	taken := false
	err = kv.client.request(ctx, func(ctx context.Context, conn *clientv3.Client) error {
		whole := kv.prefix + key
		r, err := conn.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(whole), "=", 0)).
			Then(clientv3.OpPut(whole, string(value), clientv3.WithLease(lease))).Commit()
		taken = err == nil && r.Succeeded
		return err
	})
	keeping, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if err != nil || !taken {
		cancel()
		p.revokeAtEnd(keeping, lease)
		if err == nil {
			return nil, ErrHeld
		}
		return nil, fmt.Errorf("lock %s%s: %w", kv.prefix, key, err)
	}
	p.renewed(asked)
	l := &Lock{lost: make(chan struct{}), cancel: cancel}
	l.keeping.Go(func() {
		defer p.revokeAtEnd(keeping, lease)
		err := p.hold(keeping, lease, nil)
		if keeping.Err() == nil {
			kv.client.config.Log.Warn("etcd lock lost", slog.String("key", kv.prefix+key), slog.Any("error", err))
		}
		close(l.lost)
	})
	return l, nil
}

// Lost returns a channel that is closed when the lock is no longer held, for any reason.
func (l *Lock) Lost() <-chan struct{} { return l.lost }

// Release deletes the key if etcd can be reached at once. Otherwise the key expires. Call it once, even if the lock is
// lost.
func (l *Lock) Release() {
	l.cancel()
	l.keeping.Wait()
}
