// Package redis runs scripts and single commands in one Redis server, in a Redis Cluster, or in the master that
// sentinels name.
//
// It owns the connections and guarantees that nothing is sent twice. A command whose answer was lost may have run, with
// an unknown result. The package never decides what a lost answer means, and knows no generator. Only this package uses
// the library.
package redis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Server is a Redis server, a cluster or a master. It is safe for concurrent use. The owner calls Close.
type Server struct {
	client redis.UniversalClient
	where  string                // for errors
	away   func(context.Context) // called after each failure; may be nil

	scripts sync.Map // text to *redis.Script; there are few, and they never change
}

// script caches scripts, so that each digest is computed once.
func (s *Server) script(text string) *redis.Script {
	if known, ok := s.scripts.Load(text); ok {
		return known.(*redis.Script)
	}
	known, _ := s.scripts.LoadOrStore(text, redis.NewScript(text))
	return known.(*redis.Script)
}

// failed returns an error with the attempted action and the server.
func (s *Server) failed(ctx context.Context, err error, format string, args ...any) error {
	if s.away != nil {
		s.away(ctx)
	}
	return fmt.Errorf("%s in %s: %w", fmt.Sprintf(format, args...), s.where, found(err))
}

// Eval runs a script at most once and returns its answer, a list of strings. After an error the outcome is unknown. The
// server caches scripts. If it doesn't know one, nothing was run, and the script is sent in full.
func (s *Server) Eval(ctx context.Context, script string, keys []string, args ...string) ([]string, error) {
	values := make([]any, len(args))
	for i, a := range args {
		values[i] = a
	}
	answer, err := s.script(script).Run(ctx, s.client, keys, values...).StringSlice()
	if err != nil {
		return nil, s.failed(ctx, err, "run a script")
	}
	return answer, nil
}

// Increment adds to a counter and returns its new value. After an error the outcome is unknown.
func (s *Server) Increment(ctx context.Context, key string, by int64) (int64, error) {
	n, err := s.client.IncrBy(ctx, key, by).Result()
	if err != nil {
		return 0, s.failed(ctx, err, "increment %s", key)
	}
	return n, nil
}

const unlock = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`

// TryLock takes a lock for a limited time, or returns false if another process has it. After a failover of Redis two processes
// may hold a lock. So it may only be used to save work, never to keep numbers unique.
func (s *Server) TryLock(ctx context.Context, key, token string, ttl time.Duration) (bool, error) {
	err := s.client.SetArgs(ctx, key, token, redis.SetArgs{Mode: "NX", TTL: ttl}).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	if err != nil {
		return false, s.failed(ctx, err, "lock %s", key)
	}
	return true, nil
}

// Unlock releases a lock if it is still held by the token.
func (s *Server) Unlock(ctx context.Context, key, token string) error {
	if err := s.script(unlock).Run(ctx, s.client, []string{key}, token).Err(); err != nil {
		return s.failed(ctx, err, "unlock %s", key)
	}
	return nil
}

// Close closes the connections.
func (s *Server) Close() error { return s.client.Close() }
