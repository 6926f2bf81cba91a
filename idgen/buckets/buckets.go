// Package buckets counts in 256 Redis counters concurrently, on one server, on several, or in the nodes of a cluster:
//
//	| 0 (1) | epoch (37) | bucket (8) | counter (18) |
//
// It owns the buckets and the choice of the next one. If a bucket's counter exceeds 2¹⁸, or its server has lost it, the
// bucket is reset under a lock to an epoch granted by a durable store, which no bucket ever had. It never reuses an
// epoch. It never returns numbers counted by a Redis that restarted or was a replica, since the scripts check the
// server's identity.
//
// Callers that arrive while a script runs are answered together by the next one.
package buckets

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"locus/idgen"
	"locus/idgen/breaker"
	"locus/idgen/together"
)

const (
	bucketBits  = 8
	counterBits = 18
	buckets     = 1 << bucketBits
	maxEpoch    = 1<<(63-bucketBits-counterBits) - 1
)

// Redis is the required interface of a server or a cluster.
type Redis interface {
	// Eval runs a script at most once. After an error the outcome is unknown.
	Eval(ctx context.Context, script string, keys []string, args ...string) ([]string, error)
	// TryLock takes a lock, or returns false if another process has it. Unlock releases it.
	TryLock(ctx context.Context, key, token string, ttl time.Duration) (bool, error)
	Unlock(ctx context.Context, key, token string) error
}

// Options are the settings of a Generator. Zero fields get the default in parentheses.
type Options struct {
	Prefix  string        // prefix of the keys ("locus:buckets:")
	Timeout time.Duration // time limit of one command (500 ms)
	// StoreTimeout is the time limit of one request for an epoch (2 s).
	StoreTimeout time.Duration
	Lanes        int             // concurrent scripts (2 per processor)
	Breaker      breaker.Options // for the buckets, the servers, and the store of the epochs
}

// Generator is safe for concurrent use.
type Generator struct {
	servers []Redis // a bucket is on the server with the index of its number modulo their count
	epochs  idgen.Numbers
	options Options

	breakers [buckets]*breaker.Breaker
	away     []*breaker.Breaker // breakers of the servers
	store    *breaker.Breaker   // breaker of the store of the epochs
	turn     atomic.Uint32      // the next bucket
	epoch    atomic.Uint64      // the highest that this process has begun
	callers  *together.Numbers
}

var _ idgen.Numbers = (*Generator)(nil)

// New returns a generator over one or more servers. epochs come from a durable store. The servers may change: a bucket
// that its server doesn't have starts an epoch there.
func New(servers []Redis, epochs idgen.Numbers, o Options) *Generator {
	o.Prefix = cmp.Or(o.Prefix, "locus:buckets:")
	o.Timeout = cmp.Or(o.Timeout, 500*time.Millisecond)
	o.StoreTimeout = cmp.Or(o.StoreTimeout, 2*time.Second)
	o.Lanes = cmp.Or(o.Lanes, 2*runtime.GOMAXPROCS(0))
	g := &Generator{servers: servers, epochs: epochs, options: o, store: breaker.New(o.Breaker)}
	g.callers = together.New(o.Lanes, 0, g.count)
	for i := range g.breakers {
		g.breakers[i] = breaker.New(o.Breaker)
	}
	for range servers {
		g.away = append(g.away, breaker.New(o.Breaker))
	}
	g.turn.Store(uint32(time.Now().UnixNano())) // processes start at different ones
	return g
}

// Fill implements idgen.Numbers.
func (g *Generator) Fill(ctx context.Context, into []uint64) error {
	for len(into) > 0 {
		n := min(len(into), longestRun)
		if err := g.callers.Fill(ctx, into[:n]); err != nil {
			return err
		}
		into = into[n:]
	}
	return nil
}

// longestRun is how many numbers are requested from a bucket at once. If they don't fit, the bucket's rest is lost, so
// a run is small compared with the bucket.
const longestRun = 1 << (counterBits - 4)

// identity: see package pool.
const identity = `
local function id(section, name)
  local said = redis.call('INFO', section)
  local _, before = string.find(said, name, 1, true)
  return string.sub(said, before + 1, before + 40)
end
local function identity() return id('server', 'run_id:') .. '.' .. id('replication', 'master_replid:') end
`

// countScript: KEYS is the bucket. ARGV is n and the capacity of a bucket.
const countScript = identity + `
local s = redis.call('HMGET', KEYS[1], 'run', 'epoch', 'count')
if not s[1] or s[1] ~= identity() or tonumber(s[3]) + tonumber(ARGV[1]) > tonumber(ARGV[2]) then return {'reset', s[2] or '0'} end
redis.call('HINCRBY', KEYS[1], 'count', ARGV[1])
return {s[2], s[3]}
`

// resetScript: KEYS is the bucket. ARGV is the epoch, which is unused.
const resetScript = identity + `
redis.call('HSET', KEYS[1], 'run', identity(), 'epoch', ARGV[1], 'count', '0')
return {'ok'}
`

// attempts is how many buckets are tried before a caller gets an error.
const attempts = 8

// count takes n numbers of one bucket and returns the first.
func (g *Generator) count(ctx context.Context, n int) (uint64, error) {
	r := &request{Generator: g, n: n}
	for looked := 0; looked < buckets && len(r.errs) < attempts && ctx.Err() == nil; looked++ {
		bucket := g.turn.Add(1) % buckets
		if !g.allow(bucket) {
			continue
		}
		if first, ok := r.countIn(ctx, bucket); ok {
			return first, nil
		}
	}
	if len(r.errs) == 0 || errors.Is(r.noEpoch, errNotAsked) { // a bucket of each server, or the store, may be available again
		r.noEpoch, r.again = nil, true
		for i := 0; i < len(g.servers) && (i == 0 || ctx.Err() == nil); i++ {
			if first, ok := r.countIn(ctx, g.turn.Add(1)%buckets); ok {
				return first, nil
			}
		}
	}
	return 0, fmt.Errorf("buckets: %w", errors.Join(r.errs...))
}

// request is the state of one request for numbers of a bucket.
type request struct {
	*Generator
	n       int
	errs    []error // errors of buckets, or the error of the first one without an epoch
	noEpoch error   // why no epoch could be taken from the store; the other buckets then use the epochs that they have
	again   bool    // the store is tried although it failed recently
}

// countIn takes the numbers from a bucket, or keeps the error.
func (r *request) countIn(ctx context.Context, bucket uint32) (first uint64, ok bool) {
	before := r.noEpoch
	first, err := r.attempt(ctx, bucket)
	r.done(ctx, bucket, err)
	if err != nil && (before == nil || !errors.Is(err, before)) {
		r.errs = append(r.errs, fmt.Errorf("bucket %d: %w", bucket, err))
	}
	return first, err == nil
}

// server returns the index of a bucket's server.
func (g *Generator) server(bucket uint32) int { return int(bucket) % len(g.servers) }

// allow checks the bucket's breaker, and that of its server if there are other servers. Otherwise each bucket would
// have to discover an unresponsive server.
func (g *Generator) allow(bucket uint32) bool {
	if len(g.servers) == 1 {
		return g.breakers[bucket].Allow()
	}
	server := g.away[g.server(bucket)]
	if !server.Allow() {
		return false
	}
	if !g.breakers[bucket].Allow() {
		server.Leave()
		return false
	}
	return true
}

// unanswered is an error of a server rather than of one bucket.
type unanswered struct{ error }

func (e unanswered) Unwrap() error { return e.error }

func (g *Generator) done(ctx context.Context, bucket uint32, err error) {
	g.breakers[bucket].Ended(ctx, err)
	if len(g.servers) == 1 {
		return
	}
	if !errors.As(err, new(unanswered)) {
		err = nil
	}
	g.away[g.server(bucket)].Ended(ctx, err)
}

func (r *request) attempt(ctx context.Context, bucket uint32) (uint64, error) {
	redis, key, n := r.servers[r.server(bucket)], r.options.Prefix+strconv.Itoa(int(bucket)), r.n
	for range 3 {
		answer, err := r.eval(ctx, redis, countScript, key, strconv.Itoa(n), strconv.Itoa(1<<counterBits))
		if err != nil {
			return 0, err
		}
		if len(answer) != 2 {
			return 0, fmt.Errorf("Redis answers %q", answer)
		}
		if answer[0] == "reset" {
			if err := r.reset(ctx, redis, key); err != nil {
				return 0, err
			}
			continue
		}
		epoch, err := strconv.ParseUint(answer[0], 10, 64)
		counted, countedErr := strconv.ParseUint(answer[1], 10, 64)
		if err := errors.Join(err, countedErr); err != nil || epoch == 0 || epoch > maxEpoch || counted+uint64(n) > 1<<counterBits {
			return 0, fmt.Errorf("Redis answers %q", answer)
		}
		return epoch<<(bucketBits+counterBits) | uint64(bucket)<<counterBits | counted, nil
	}
	return 0, errors.New("others used it up each time")
}

// reset starts an epoch, unless another caller is doing so. Its lock only saves epochs. Each epoch is used once, so two
// resets don't repeat a number.
func (r *request) reset(ctx context.Context, redis Redis, key string) error {
	if r.noEpoch != nil {
		return r.noEpoch
	}
	token := rand.Text()
	bounded, cancel := context.WithTimeout(ctx, r.options.Timeout)
	defer cancel()
	lock := "{" + key + "}:lock" // the braces put the lock on the same node of a cluster as the key
	locked, err := redis.TryLock(bounded, lock, token, 2*time.Second)
	if err != nil {
		return unanswered{err}
	}
	if !locked {
		return errors.New("it is being reset")
	}
	defer r.unlock(ctx, redis, lock, token)
	epoch, err := r.begin(ctx)
	if err != nil {
		r.noEpoch = fmt.Errorf("begin an epoch: %w", err)
		return r.noEpoch
	}
	_, err = r.eval(ctx, redis, resetScript, key, strconv.FormatUint(epoch, 10))
	return err
}

// unlock releases the lock of a reset if the caller has time left. The lock expires by itself.
func (g *Generator) unlock(ctx context.Context, redis Redis, lock, token string) {
	ctx, cancel := context.WithTimeout(ctx, g.options.Timeout)
	defer cancel()
	if ctx.Err() == nil {
		_ = redis.Unlock(ctx, lock, token)
	}
}

var errNotAsked = fmt.Errorf("the store of epochs failed and %w", idgen.ErrNotAsked)

// begin takes an epoch from the store.
func (r *request) begin(ctx context.Context) (uint64, error) {
	if !r.again && !r.store.Allow() {
		return 0, errNotAsked
	}
	bounded, cancel := context.WithTimeout(ctx, r.options.StoreTimeout)
	defer cancel()
	epoch, err := idgen.One(bounded, r.epochs)
	r.store.Ended(ctx, err)
	if err != nil {
		return 0, err
	}
	if epoch == 0 || epoch > maxEpoch {
		return 0, fmt.Errorf("epoch %d: %w", epoch, idgen.ErrOutOfRange)
	}
	for highest := r.epoch.Load(); epoch > highest && !r.epoch.CompareAndSwap(highest, epoch); highest = r.epoch.Load() {
	}
	return epoch, nil
}

func (g *Generator) eval(ctx context.Context, redis Redis, script, key string, args ...string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, g.options.Timeout)
	defer cancel()
	answer, err := redis.Eval(ctx, script, []string{key}, args...)
	if err != nil {
		return nil, unanswered{err}
	}
	return answer, nil
}

// Left returns the unused share of the epochs, from 1 down to 0, as far as this process knows.
func (g *Generator) Left() float64 { return 1 - float64(g.epoch.Load())/maxEpoch }

// Servers returns the states of the servers' breakers. With one server it is always closed, since its buckets have
// their own.
func (g *Generator) Servers() []breaker.State {
	var states []breaker.State
	for _, b := range g.away {
		states = append(states, b.State())
	}
	return states
}

// States counts the buckets by the state of their breakers.
func (g *Generator) States() map[breaker.State]int {
	states := map[breaker.State]int{}
	for _, b := range g.breakers {
		states[b.State()]++
	}
	return states
}
