package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"locus/config/etcd"
)

// killsPrefix is the prefix of the keys of requests to end sessions. Below it are the IDs of the proxies, and below each the requests.
const killsPrefix = "kills/"

func killsKey(proxy string) string { return killsPrefix + proxy + "/" }

// Kill is a request to a proxy to end one of its sessions, or the statement that the session runs.
type Kill struct {
	Session   uint32    `json:"session"`
	Statement bool      `json:"statement,omitempty"` // only the statement
	By        string    `json:"by"`
	At        time.Time `json:"at"`
}

// killing is the document of a request. The process that requests writes it without an outcome. The proxy then writes it as taken, and at last with
// the outcome.
type killing struct {
	Kill
	Taken time.Time `json:"taken,omitzero"` // by the proxy's clock
	Done  bool      `json:"done,omitempty"`
	Error string    `json:"error,omitempty"`
}

const (
	// KillPatience is the time limit of a request.
	KillPatience = 10 * time.Second
	// killLease is the lifetime of a request whose process has died before the proxy took it.
	killLease = 30 * time.Second
)

// SendKill makes a proxy end a session, and waits for the outcome. After an *UnknownKillError the session may have ended. After any other error it
// has not, or the error says what continues.
func SendKill(ctx context.Context, kv *etcd.KV, proxy string, k Kill) error {
	ctx, cancel := context.WithTimeout(ctx, KillPatience)
	defer cancel()
	key := killsKey(proxy) + rand.Text()
	text, err := json.Marshal(killing{Kill: k})
	if err != nil {
		return err
	}
	lock, err := kv.Lock(ctx, key, text, killLease)
	if err != nil { // the request may have been written, and the proxy may carry it out
		return fmt.Errorf("%w: %w", &UnknownKillError{proxy, k.Session}, err)
	}
	defer lock.Release()
	return awaitKilled(ctx, kv, proxy, key, k)
}

// UnknownKillError reports that a proxy may have taken a request, and that no outcome of it is known.
type UnknownKillError struct {
	Proxy   string
	Session uint32
}

func (e *UnknownKillError) Error() string {
	return fmt.Sprintf("proxy %s has not reported whether session %d has ended: locus sessions list shows it", e.Proxy, e.Session)
}

// awaitKilled waits for the outcome of a request, and deletes the request.
func awaitKilled(ctx context.Context, kv *etcd.KV, proxy, key string, k Kill) error {
	watching, stop := context.WithCancel(ctx)
	var changes <-chan int64
	defer func() {
		if stop(); changes == nil {
			return
		}
		for range changes { // until the watch has ended
		}
	}()
	for {
		seen, revision, err := readKill(ctx, kv, key)
		switch {
		case err != nil:
			return giveUpKill(context.WithoutCancel(ctx), kv, proxy, key, k)
		case seen.Done:
			return endKill(context.WithoutCancel(ctx), kv, key, seen)
		case changes == nil:
			changes = kv.Under(key).Changes(watching, revision)
		}
		if _, open := <-changes; !open {
			return giveUpKill(context.WithoutCancel(ctx), kv, proxy, key, k)
		}
	}
}

// readKill reads a request. Its error may also mean that the request does not exist any more.
func readKill(ctx context.Context, kv *etcd.KV, key string) (r killing, revision int64, err error) {
	text, revision, err := kv.Get(ctx, key)
	switch {
	case err != nil:
		return r, 0, err
	case revision == 0:
		return r, 0, errors.New("the request has expired")
	}
	return r, revision, json.Unmarshal(text, &r)
}

// endKill deletes a request that has an outcome, and returns the outcome.
func endKill(ctx context.Context, kv *etcd.KV, key string, r killing) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, _ = kv.Commit(ctx, nil, etcd.Delete(key)) // the proxy deletes it otherwise
	if r.Error != "" {
		return errors.New(r.Error)
	}
	return nil
}

// giveUpKill withdraws a request. That fails if the proxy has taken it.
func giveUpKill(ctx context.Context, kv *etcd.KV, proxy, key string, k Kill) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	last, revision, err := readKill(ctx, kv, key)
	switch {
	case err != nil:
	case last.Done:
		return endKill(ctx, kv, key, last)
	case last.Taken.IsZero():
		if _, err = kv.Commit(ctx, []etcd.Guard{{Key: key, Revision: revision}}, etcd.Delete(key)); err == nil {
			return fmt.Errorf("proxy %s has not answered, and session %d continues", proxy, k.Session)
		}
	}
	return &UnknownKillError{proxy, k.Session}
}

// Killer ends sessions of one proxy on request.
type Killer struct {
	KV *etcd.KV
	ID string // of the proxy
	// Kill ends a session, or its statement.
	Kill func(ctx context.Context, k Kill) error
	Now  func() time.Time
	Log  *slog.Logger
}

// Run serves requests until ctx ends.
func (k *Killer) Run(ctx context.Context) error {
	return attend(ctx, k.KV.Under(killsKey(k.ID)), func() error { return k.serve(ctx) })
}

// serve carries out the requests that are not taken yet, and deletes those whose processes have not read the outcome.
func (k *Killer) serve(ctx context.Context) error {
	pairs, _, err := k.KV.GetPrefix(ctx, killsKey(k.ID))
	if err != nil {
		return err
	}
	for _, p := range pairs {
		var r killing
		if err := json.Unmarshal(p.Value, &r); err != nil || !r.Taken.IsZero() && k.Now().Sub(r.Taken) > killLease {
			_, err := k.KV.Commit(ctx, []etcd.Guard{{Key: p.Key, Revision: p.Revision}}, etcd.Delete(p.Key))
			if err != nil && !errors.As(err, new(*etcd.Conflict)) {
				return err
			}
			continue
		}
		if !r.Taken.IsZero() {
			continue
		}
		if err := k.one(ctx, p, r); err != nil {
			return err
		}
	}
	return nil
}

// one takes a request, carries it out, and writes the outcome. A request that was withdrawn meanwhile is not carried out.
func (k *Killer) one(ctx context.Context, p etcd.KeyValue, r killing) error {
	r.Taken = k.Now().UTC()
	revision, err := k.put(ctx, p.Key, p.Revision, r)
	if errors.As(err, new(*etcd.Conflict)) {
		return nil
	}
	if err != nil {
		return err
	}
	k.Log.Info("a session is ended", slog.Uint64("session", uint64(r.Session)), slog.Bool("statement", r.Statement), slog.String("by", r.By))
	r.Done = true
	if err := k.Kill(ctx, r.Kill); err != nil {
		r.Error = err.Error()
	}
	_, err = k.put(ctx, p.Key, revision, r)
	if errors.As(err, new(*etcd.Conflict)) {
		return nil
	}
	return err
}

func (k *Killer) put(ctx context.Context, key string, revision int64, r killing) (int64, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return 0, err
	}
	return k.KV.Commit(ctx, []etcd.Guard{{Key: key, Revision: revision}}, etcd.Put(key, text))
}
