package changes

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestAwaitShownEnds: the wait for a server's commits ends with the check, an error, the caller's context, or the time limit.
func TestAwaitShownEnds(t *testing.T) {
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		shown func(context.Context) (bool, error)
		limit time.Duration // of the caller's context
		want  string        // part of the error; empty for none
		after time.Duration // at least
	}{
		"at once":      {func(context.Context) (bool, error) { return true, nil }, time.Hour, "", 0},
		"refused":      {func(context.Context) (bool, error) { return false, refused }, time.Hour, "refused", 0},
		"never":        {func(context.Context) (bool, error) { return false, nil }, time.Hour, "has not committed", shownPatience},
		"unresponsive": {func(ctx context.Context) (bool, error) { <-ctx.Done(); return false, ctx.Err() }, time.Hour, "has not answered within", shownPatience},
		"cancelled":    {func(context.Context) (bool, error) { return false, nil }, time.Second, "deadline exceeded", time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), c.limit)
			defer cancel()
			began := time.Now()
			err := awaitShown(ctx, c.shown)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || time.Since(began) < c.after || time.Since(began) > 2*shownPatience {
				t.Errorf("%s: %v after %v", name, err, time.Since(began))
			}
		})
	}
}
