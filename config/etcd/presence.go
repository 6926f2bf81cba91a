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

// Presence is a key that exists while its process runs and reaches etcd, and
// that is gone a time-to-live after the process has died.
type Presence struct {
	kv      *KV
	key     string
	ttl     time.Duration
	changed chan struct{} // full: value is newer than what was written

	mu    sync.Mutex // of value
	value []byte
}

// farewell bounds the wait for etcd to take the key away.
const farewell = 2 * time.Second

// Presence is not there before [Presence.Run]. The time-to-live is in whole
// seconds, rounded up; servers make it 2 s at least.
func (kv *KV) Presence(key string, value []byte, ttl time.Duration) *Presence {
	return &Presence{kv: kv, key: key, value: value, ttl: ttl, changed: make(chan struct{}, 1)}
}

// Register is a presence that always says the same: see [Presence.Run].
func (kv *KV) Register(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	return kv.Presence(key, value, ttl).Run(ctx)
}

// Set has Run write another value soon; of several, the last. Safe for
// concurrent use.
func (p *Presence) Set(value []byte) {
	p.mu.Lock()
	p.value = value
	p.mu.Unlock()
	select {
	case p.changed <- struct{}{}:
	default: // Run will see this value with that signal
	}
}

// Run writes the key and keeps it until the context ends, and again whenever it
// is lost: etcd away for longer than the time-to-live, or the lease revoked. A
// key that someone else deletes stays away until the next Set. At the end the
// key is taken away, if etcd can be reached at once. Run returns the context's
// error, or that the client is closed. Call it once.
func (p *Presence) Run(ctx context.Context) error {
	var pause backoff
	for {
		err := p.keep(ctx, pause.reset)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, errClosed) {
			return err
		}
		p.kv.client.config.Log.Warn("etcd lease lost", slog.String("key", p.kv.prefix+p.key), slog.Any("error", err))
		pause.wait(ctx)
	}
}

var errLeaseLost = errors.New("the lease has ended")

// keep holds one lease for as long as it goes.
func (p *Presence) keep(ctx context.Context, registered func()) error {
	lease, err := p.grant(ctx)
	if err != nil {
		return err
	}
	defer p.revokeAtEnd(ctx, lease)
	conn, err := p.kv.client.connection(ctx)
	if err != nil {
		return err
	}
	// Its own context, because a lost lease must not be kept alive any longer.
	held, drop := context.WithCancel(ctx)
	defer drop()
	alive, err := conn.KeepAlive(held, lease)
	if err != nil {
		return err
	}
	if err := p.write(ctx, lease); err != nil {
		return err
	}
	registered()
	for {
		select {
		case _, ok := <-alive: // also closed when the context ends
			if !ok {
				return errLeaseLost
			}
		case <-p.changed:
			if err := p.write(ctx, lease); err != nil {
				return err
			}
		}
	}
}

func (p *Presence) grant(ctx context.Context) (lease clientv3.LeaseID, err error) {
	seconds := int64((p.ttl + time.Second - 1) / time.Second)
	err = p.kv.client.request(ctx, func(ctx context.Context, conn *clientv3.Client) error {
		r, err := conn.Grant(ctx, seconds)
		if err == nil {
			lease = r.ID
		}
		return err
	})
	return lease, err
}

// write is no compare-and-swap: the key is this process's alone.
func (p *Presence) write(ctx context.Context, lease clientv3.LeaseID) error {
	p.mu.Lock()
	value := p.value
	p.mu.Unlock()
	err := p.kv.client.request(ctx, func(ctx context.Context, conn *clientv3.Client) error {
		_, err := conn.Put(ctx, p.kv.prefix+p.key, string(value), clientv3.WithLease(lease))
		return err
	})
	if err != nil {
		return fmt.Errorf("write %s%s: %w", p.kv.prefix, p.key, err)
	}
	return nil
}

// revokeAtEnd takes the key away when the process leaves. A lost lease is left
// to its time: the key may be on the next lease already.
func (p *Presence) revokeAtEnd(ctx context.Context, lease clientv3.LeaseID) {
	if ctx.Err() == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	err := p.kv.client.request(ctx, func(ctx context.Context, conn *clientv3.Client) error {
		_, err := conn.Revoke(ctx, lease)
		return err
	})
	if err != nil {
		p.kv.client.config.Log.Warn("etcd lease not revoked, it will expire",
			slog.String("key", p.kv.prefix+p.key), slog.Duration("after", p.ttl), slog.Any("error", err))
	}
}
