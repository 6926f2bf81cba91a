package ops

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// A read of etcd is retried while no member answers, for as long as the command may wait. Any other error ends
// it.
func TestEtcdIsWaitedFor(t *testing.T) {
	away := fmt.Errorf("etcd: %w", context.DeadlineExceeded)
	wrong := errors.New("it names no version")
	for name, c := range map[string]struct {
		wait  time.Duration
		errs  []error
		want  error
		reads int
	}{
		"it answers":           {time.Minute, []error{nil}, nil, 1},
		"a leader comes":       {time.Minute, []error{away, away, nil}, nil, 3},
		"what it has is wrong": {time.Minute, []error{away, wrong}, wrong, 2},
		"nobody waits":         {0, []error{away}, away, 1},
		"not for ever":         {3 * time.Second, []error{away}, away, 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reads, told := 0, 0
				err := patiently(t.Context(), c.wait, func(error) { told++ }, func() error {
					reads++
					return c.errs[min(reads, len(c.errs))-1]
				})
				if !errors.Is(err, c.want) || reads != c.reads || told > 1 || (told == 1) != (reads > 1) {
					t.Errorf("%v after %d reads, told %d times", err, reads, told)
				}
			})
		})
	}
}
