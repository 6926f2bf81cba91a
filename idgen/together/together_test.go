package together

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Callers that come while a request is under way, or before it has begun, share
// one, of no more numbers than are let.
func TestOneRequestForWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []int
		next := uint64(1)
		g := New(1, 100, func(_ context.Context, n int) (uint64, error) {
			time.Sleep(time.Millisecond) // virtual
			asked = append(asked, n)
			first := next
			next += uint64(n)
			return first, nil
		})
		var mu sync.Mutex
		seen := map[uint64]bool{}
		var callers sync.WaitGroup
		for range 51 {
			callers.Go(func() {
				into := make([]uint64, 3)
				if err := g.Fill(t.Context(), into); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				for i, n := range into {
					if seen[n] || n != into[0]+uint64(i) {
						t.Errorf("%v", into)
					}
					seen[n] = true
				}
			})
		}
		callers.Wait()
		total := 0
		for _, n := range asked {
			total += n
		}
		if len(asked) > 3 || slices.Max(asked) > 100 || total != 3*51 {
			t.Errorf("asked for %v", asked)
		}
	})
}

func TestAnErrorIsEverybodys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("away")
		g := New(1, 0, func(context.Context, int) (uint64, error) {
			time.Sleep(time.Millisecond) // virtual
			return 0, away
		})
		var callers sync.WaitGroup
		for range 5 {
			callers.Go(func() {
				if err := g.Fill(t.Context(), make([]uint64, 1)); !errors.Is(err, away) {
					t.Error(err)
				}
			})
		}
		callers.Wait()
	})
}

// Who gives up leaves the lane to the others, whatever it was told meanwhile.
func TestWhoGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(1, 1, func(context.Context, int) (uint64, error) {
			time.Sleep(10 * time.Millisecond) // virtual
			return 1, nil
		})
		var callers sync.WaitGroup
		for i := range 20 {
			callers.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*7*time.Millisecond)
				defer cancel()
				_ = g.Fill(ctx, make([]uint64, 1))
			})
		}
		callers.Wait()
		if err := g.Fill(t.Context(), make([]uint64, 1)); err != nil {
			t.Error(err)
		}
	})
}
