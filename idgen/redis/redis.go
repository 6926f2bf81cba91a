// Package redis runs scripts and single commands in Redis: in one server, in a
// Redis Cluster, or in the master that sentinels name.
//
// It owns the connections and that nothing is ever sent twice: a command whose
// answer was lost may have run, and what it did can't be seen. It never decides
// what a lost answer means, and knows no generator. It alone speaks the library.
package redis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Server is a Redis server, a cluster or a master. It is safe for concurrent use;
// the owner calls Close.
type Server struct {
	client redis.UniversalClient
	where  string                // for errors
	away   func(context.Context) // is told of each failure; nil: nobody

	scripts sync.Map // their text to *redis.Script, which are few and never change
}

// script has its digest made once.
func (s *Server) script(text string) *redis.Script {
	if known, ok := s.scripts.Load(text); ok {
		return known.(*redis.Script)
	}
	known, _ := s.scripts.LoadOrStore(text, redis.NewScript(text))
	return known.(*redis.Script)
}

// failed is an error of something that was tried, with where it was.
func (s *Server) failed(ctx context.Context, err error, format string, args ...any) error {
	if s.away != nil {
		s.away(ctx)
	}
	return fmt.Errorf("%s in %s: %w", fmt.Sprintf(format, args...), s.where, found(err))
}

// Eval runs a script at most once and gives its answer, a list of strings. An
// error means that the outcome is unknown. The server keeps scripts; one that it
// does not know ran nothing, so it is sent in full.
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

// Increment adds to a counter and gives what it is then. An error means that
// the outcome is unknown.
func (s *Server) Increment(ctx context.Context, key string, by int64) (int64, error) {
	n, err := s.client.IncrBy(ctx, key, by).Result()
	if err != nil {
		return 0, s.failed(ctx, err, "increment %s", key)
	}
	return n, nil
}

const unlock = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`

// TryLock takes a lock for a while, or tells that somebody else has it. A lock
// in Redis can be had by two after a failover: it may only spare work, never
// keep numbers apart.
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

// Unlock gives a lock back if it still is the token's.
func (s *Server) Unlock(ctx context.Context, key, token string) error {
	if err := s.script(unlock).Run(ctx, s.client, []string{key}, token).Err(); err != nil {
		return s.failed(ctx, err, "unlock %s", key)
	}
	return nil
}

// Close closes the connections.
func (s *Server) Close() error { return s.client.Close() }
