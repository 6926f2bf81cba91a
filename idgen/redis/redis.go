// Package redis runs scripts and single commands in one Redis server.
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
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Config is where the server is and how it is talked to. Fields left zero get
// the value that their comment names.
type Config struct {
	Address        string // host:port
	User, Password string
	Database       int
	Timeout        time.Duration // of connecting, and of one command (500 ms)
	MaxConnections int           // (10 per processor)
}

// Server is one Redis server. It is safe for concurrent use; the owner calls
// Close.
type Server struct{ client *redis.Client }

// quiet keeps the library from writing to standard error what its callers are
// told as errors.
var quiet = sync.OnceFunc(logging.Disable)

// Open is a server that is dialed when it is first asked.
func Open(c Config) *Server {
	quiet()
	if c.Timeout == 0 {
		c.Timeout = 500 * time.Millisecond
	}
	return &Server{redis.NewClient(&redis.Options{
		Addr: c.Address, Username: c.User, Password: c.Password, DB: c.Database,
		DialTimeout: c.Timeout, ReadTimeout: c.Timeout, WriteTimeout: c.Timeout,
		ContextTimeoutEnabled: true,
		PoolSize:              c.MaxConnections,
		MaxRetries:            -1, // a fill that is sent twice would put its numbers in twice
		DisableIdentity:       true,
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled,
		},
	})}
}

// Eval runs a script at most once and gives its answer, a list of strings. An
// error means that the outcome is unknown. The server keeps scripts; one that it
// does not know ran nothing, so it is sent in full.
func (s *Server) Eval(ctx context.Context, script string, keys []string, args ...string) ([]string, error) {
	values := make([]any, len(args))
	for i, a := range args {
		values[i] = a
	}
	answer, err := redis.NewScript(script).Run(ctx, s.client, keys, values...).StringSlice()
	if err != nil {
		return nil, fmt.Errorf("run a script in Redis at %s: %w", s.client.Options().Addr, err)
	}
	return answer, nil
}

// Increment adds to a counter and gives what it is then. An error means that
// the outcome is unknown.
func (s *Server) Increment(ctx context.Context, key string, by int64) (int64, error) {
	n, err := s.client.IncrBy(ctx, key, by).Result()
	if err != nil {
		return 0, fmt.Errorf("increment %s in Redis at %s: %w", key, s.client.Options().Addr, err)
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
		return false, fmt.Errorf("lock %s in Redis at %s: %w", key, s.client.Options().Addr, err)
	}
	return true, nil
}

// Unlock gives a lock back if it still is the token's.
func (s *Server) Unlock(ctx context.Context, key, token string) error {
	if err := redis.NewScript(unlock).Run(ctx, s.client, []string{key}, token).Err(); err != nil {
		return fmt.Errorf("unlock %s in Redis at %s: %w", key, s.client.Options().Addr, err)
	}
	return nil
}

// Close closes the connections.
func (s *Server) Close() error { return s.client.Close() }
