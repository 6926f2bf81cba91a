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

// ErrHeld says that another process holds a lock.
var ErrHeld = errors.New("held by another process")

// Lock is a key that one process has, for as long as it lives and reaches etcd.
type Lock struct {
	lost    chan struct{}
	cancel  context.CancelFunc
	keeping sync.WaitGroup
}

// Lock takes a key that nobody has. The error is [ErrHeld], or says that etcd could
// not be asked; then the key may be taken for a time-to-live.
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

// Lost is closed when the lock is no longer held, for whatever reason.
func (l *Lock) Lost() <-chan struct{} { return l.lost }

// Release gives the key back, if etcd can be reached at once, and otherwise leaves
// it to its time. Call it once, lost or not.
func (l *Lock) Release() {
	l.cancel()
	l.keeping.Wait()
}
