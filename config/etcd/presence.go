package etcd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Presence is a key that exists while its process runs and reaches etcd. It disappears one time-to-live after the
// process has died.
type Presence struct {
	kv      *KV
	key     string
	ttl     time.Duration
	changed chan struct{} // full if value is newer than what was written
	there   chan struct{} // closed when the key was first written

	mu    sync.Mutex // guards the fields below
	value []byte
	until time.Time // when others may consider the process dead
	since int64     // revision of the first write with the lease; 0 for none
	lease clientv3.LeaseID
}

// farewell bounds the wait for etcd to delete the key.
const farewell = 2 * time.Second

// Presence returns a key that doesn't exist before [Presence.Run]. The time-to-live is in whole seconds, rounded up.
// Servers raise it to at least 2 s.
func (kv *KV) Presence(key string, value []byte, ttl time.Duration) *Presence {
	return &Presence{kv: kv, key: key, value: value, ttl: ttl, changed: make(chan struct{}, 1), there: make(chan struct{})}
}

// Set makes Run write another value soon. Of several values, only the last is written. It is safe for
// concurrent use.
func (p *Presence) Set(value []byte) {
	p.mu.Lock()
	p.value = value
	p.mu.Unlock()
	select {
	case p.changed <- struct{}{}:
	default: // Run will see this value with the pending signal
	}
}

// Known returns a channel that is closed once the key has existed. Readers of all keys see it from then on, unless it
// was lost.
func (p *Presence) Known() <-chan struct{} { return p.there }

// Held reports whether others know this process to be alive, and since which revision of etcd without interruption. It
// holds until one time-to-live after the last renewal was requested. After that the key may be gone, regardless of what
// this process has received. It is safe for concurrent use.
func (p *Presence) Held() (since int64, held bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.since, p.since > 0 && time.Now().Before(p.until)
}

// renewed records a lease that was granted or renewed by a request at the given time.
func (p *Presence) renewed(asked time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = asked.Add(p.ttl)
}

// Run writes the key and keeps it until the context ends. It writes the key again after every loss: etcd unavailable
// for longer than the time-to-live, or the lease revoked. A key that another client deletes is written again only at
// the next Set. At the end it deletes the key if etcd can be reached at once. Run returns the context's error, or an
// error if the client is closed. Call it once.
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

// renewals is how often a lease is renewed per time-to-live.
const renewals = 4

// keep holds one lease as long as possible. It requests each renewal separately instead of using a stream. Only then is
// it known when an answer's request was made. A process that was suspended may receive old answers.
func (p *Presence) keep(ctx context.Context, registered func()) error {
	asked := time.Now()
	lease, err := p.grant(ctx)
	if err != nil {
		return err
	}
	defer p.revokeAtEnd(ctx, lease)
	defer p.lapse()
	p.renewed(asked)
	revision, err := p.write(ctx, lease)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.since, p.lease = revision, lease
	p.mu.Unlock()
	registered()
	select {
	case <-p.there:
	default:
		close(p.there)
	}
	return p.hold(ctx, lease, p.changed)
}

// hold renews a lease until ctx ends or the lease is lost, and writes the value again when it has changed.
func (p *Presence) hold(ctx context.Context, lease clientv3.LeaseID, changed <-chan struct{}) error {
	ticker := time.NewTicker(p.ttl / renewals)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
			if err := p.renew(ctx, lease); err != nil {
				return err
			}
		case <-changed:
			if _, err := p.write(ctx, lease); err != nil {
				return err
			}
		}
	}
}

// lapse records the end of a lease.
func (p *Presence) lapse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since = 0
}

// renew requests another time-to-live. It retries while the last one lasts.
func (p *Presence) renew(ctx context.Context, lease clientv3.LeaseID) error {
	p.mu.Lock()
	ctx, cancel := context.WithDeadline(ctx, p.until)
	p.mu.Unlock()
	defer cancel()
	var pause backoff
	for {
		asked := time.Now()
		err := p.kv.client.request(ctx, func(ctx context.Context, conn *clientv3.Client) error {
			_, err := conn.KeepAliveOnce(ctx, lease)
			return err
		})
		switch {
		case err == nil:
			p.renewed(asked)
			return nil
		case errors.Is(err, rpctypes.ErrLeaseNotFound), ctx.Err() != nil:
			return errors.Join(errLeaseLost, err)
		}
		pause.wait(ctx)
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

// Beside writes another key of this process that disappears together with the presence. It fails if the process is not
// known to be alive. It is safe for concurrent use.
func (p *Presence) Beside(ctx context.Context, key string, value []byte) error {
	p.mu.Lock()
	lease, held := p.lease, p.since > 0
	p.mu.Unlock()
	if !held {
		return fmt.Errorf("write %s%s: %w", p.kv.prefix, key, errLeaseLost)
	}
	_, err := p.put(ctx, lease, key, value)
	return err
}

func (p *Presence) write(ctx context.Context, lease clientv3.LeaseID) (revision int64, err error) {
	p.mu.Lock()
	value := p.value
	p.mu.Unlock()
	return p.put(ctx, lease, p.key, value)
}

// put is not a compare-and-swap, because only this process writes the key.
func (p *Presence) put(ctx context.Context, lease clientv3.LeaseID, key string, value []byte) (revision int64, err error) {
	err = p.kv.client.request(ctx, func(ctx context.Context, conn *clientv3.Client) error {
		r, err := conn.Put(ctx, p.kv.prefix+key, string(value), clientv3.WithLease(lease))
		if err == nil {
			revision = r.Header.Revision
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("write %s%s: %w", p.kv.prefix, key, err)
	}
	return revision, nil
}

// revokeAtEnd deletes the key when the process exits. A lost lease is left to expire, since the key may already belong
// to the next lease.
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
