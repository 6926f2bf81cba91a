package generators

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

const (
	// markKey is the mark's key in etcd, and markFile the file in which a process stores it.
	markKey  = "mark"
	markFile = "mark"
)

// marks matches valid marks.
var marks = regexp.MustCompile(`^[A-Z2-7]{12}$`)

var errMark = errors.New("a mark is 12 letters and digits")

// mark returns the prefix of this cluster's keys in Redis and memcached. Without it, another cluster that
// counts in the same server under the same names could hand out the same numbers, because its grants come from
// another etcd. The first process that needs the mark creates it. A process also stores it in a file. So a
// process that starts while etcd is down can continue with the numbers in Redis.
func (s *Set) mark(ctx context.Context) (string, error) {
	if err := s.marking.take(ctx); err != nil {
		return "", fmt.Errorf("wait for the prefix of this cluster's keys in Redis and memcached: %w", err)
	}
	defer s.marking.leave()
	if s.marked != "" {
		return s.marked, nil
	}
	mark, err := s.settledMark(ctx)
	if err != nil {
		if mark = s.rememberedMark(); mark == "" || errors.Is(err, errMark) {
			return "", fmt.Errorf("the prefix of this cluster's keys in Redis and memcached: %w", err)
		}
	} else if err := s.rememberMark(mark); err != nil {
		s.options.Log.Warn("the prefix of this cluster's keys in Redis and memcached could not be saved: a start needs etcd", "error", err)
	}
	s.marked = mark
	return mark, nil
}

// settledMark returns the mark in etcd, and creates it if there is none. It uses at most half of the remaining
// time.
func (s *Set) settledMark(ctx context.Context) (string, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	for {
		value, revision, err := s.options.KV.Get(ctx, markKey)
		switch {
		case err != nil:
			return "", fmt.Errorf("read %s: %w", markKey, err)
		case revision != 0 && !marks.Match(value):
			return "", fmt.Errorf("%s is %q: %w: delete it, and all take a new one when they start", markKey, value, errMark)
		case revision != 0:
			return string(value), nil
		}
		if _, err := s.options.KV.CompareAndSwap(ctx, markKey, 0, []byte(rand.Text()[:12])); err != nil {
			return "", fmt.Errorf("write %s: %w", markKey, err)
		} // read again: another process may have written first
	}
}

func (s *Set) rememberedMark() string {
	if s.options.DataDir == "" {
		return ""
	}
	text, err := os.ReadFile(filepath.Join(s.options.DataDir, markFile))
	if err != nil || !marks.Match(text) {
		return ""
	}
	return string(text)
}

// rememberMark writes the file atomically, because the process may be killed at any time.
func (s *Set) rememberMark(mark string) error {
	if s.options.DataDir == "" || s.rememberedMark() == mark {
		return nil
	}
	if err := os.MkdirAll(s.options.DataDir, 0o700); err != nil {
		return err
	}
	path := filepath.Join(s.options.DataDir, markFile)
	if err := os.WriteFile(path+".new", []byte(mark), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
