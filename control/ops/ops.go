// Package ops contains the operations that a person can start, change or request. Each is a typed request, which this package plans,
// checks and carries out.
//
// It owns what a request may contain, the checks before it takes effect, what it writes to etcd, and the text of each refusal with its
// remedy. It never prints, never asks a question, never parses flags, SQL or JSON, and keeps nothing between two calls. Its callers do
// that: the command line, the procedures of the schema locus and the HTTP interface.
package ops

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"locus/config/etcd"
	"locus/control/events"
	"locus/control/finding"
	"locus/control/jobs"
	"locus/idgen/cipher"
	"locus/proxy/backend"
)

// Ops carries out the operations on one cluster. Safe for concurrent use.
type Ops struct {
	kv      *etcd.KV
	jobs    *jobs.Store
	secrets func(name string) (string, error)
	connect time.Duration
	now     func() time.Time
	random  io.Reader
	ring    func() (*cipher.Ring, error)

	findings func(context.Context) ([]finding.Finding, error)
}

// Config contains what operations need from their process.
type Config struct {
	KV      *etcd.KV    // the keys of the cluster
	Jobs    *jobs.Store // of the same cluster
	Secrets func(name string) (string, error)
	Connect time.Duration // limit for the login to a shard
	Now     func() time.Time
	Random  io.Reader // for the salts of passwords; nil: the system's
	// KeyRing reads the key ring of this process. If it is nil, there is none.
	KeyRing func() (*cipher.Ring, error)
	// Findings returns the findings of the cluster. If it is nil, none can be acknowledged.
	Findings func(context.Context) ([]finding.Finding, error)
}

// New returns the operations on the cluster of c.KV.
func New(c Config) *Ops {
	if c.Random == nil {
		c.Random = rand.Reader
	}
	return &Ops{c.KV, c.Jobs, c.Secrets, c.Connect, c.Now, c.Random, c.KeyRing, c.Findings}
}

// recording is the time limit of an event whose effect is on the shards.
const recording = time.Second

// record writes events whose effects are on the shards, even if the request has ended. Their loss is no reason to report a failure.
func (o *Ops) record(ctx context.Context, list ...events.Event) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recording)
	defer cancel()
	writes, _ := events.Add(nil, list...)
	_, _ = o.kv.Commit(ctx, nil, writes...)
}

// Invalid is the error for a request that no state of the cluster accepts. Nothing was changed.
type Invalid struct{ Problem string }

func (e *Invalid) Error() string { return e.Problem }

func invalid(format string, args ...any) error { return &Invalid{fmt.Sprintf(format, args...)} }

// ErrNoSecrets means that this process has no secrets to log in to the shards, so that it can't check them.
var ErrNoSecrets = errors.New("without these secrets the shards can't be checked")

// IsLoginRefused reports whether a server has refused the login of this process.
func IsLoginRefused(err error) bool { return errors.As(err, new(*backend.LoginError)) }
