package together

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Callers that arrive during a request, or before it has begun, share the next one, up to the permitted number
// of numbers.
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

// A caller that gives up leaves the lane to the others, whatever it was assigned meanwhile.
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

// A request ends with its leader's time. The callers that joined it get other numbers, within their own time.
func TestALeadersTimeIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var deadlines []bool
		g := New(1, 0, func(ctx context.Context, _ int) (uint64, error) {
			_, has := ctx.Deadline()
			if deadlines = append(deadlines, has); len(deadlines) == 1 { // the server does not answer
				<-ctx.Done()
				return 0, ctx.Err()
			}
			return 7, nil
		})
		began := time.Now()
		var callers sync.WaitGroup
		callers.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if err := g.Fill(ctx, make([]uint64, 1)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the leader got %v", err)
			}
		})
		synctest.Wait() // the first request is in progress
		callers.Go(func() {
			into := make([]uint64, 2)
			if err := g.Fill(t.Context(), into); err != nil || into[0] != 7 || into[1] != 8 {
				t.Errorf("the other caller got %v, %v", into, err)
			}
		})
		callers.Wait()
		if waited := time.Since(began); waited != 100*time.Millisecond || !slices.Equal(deadlines, []bool{true, false}) {
			t.Errorf("%v, requests with deadlines: %v", waited, deadlines)
		}
	})
}

// A caller whose time ends during another caller's request returns, and no caller gets its numbers, which arrive later.
func TestACallerLeavesARequestInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		next := uint64(1)
		g := New(1, 0, func(_ context.Context, n int) (uint64, error) {
			<-answer
			next += uint64(n)
			return next - uint64(n), nil
		})
		var callers sync.WaitGroup
		fill := func(ctx context.Context, into []uint64, want error) {
			callers.Go(func() {
				if err := g.Fill(ctx, into); !errors.Is(err, want) {
					t.Errorf("%v, want %v", err, want)
				}
			})
			synctest.Wait()
		}
		limited, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		late, first, second := make([]uint64, 1), make([]uint64, 1), make([]uint64, 1)
		fill(t.Context(), first, nil)
		fill(t.Context(), second, nil)
		fill(limited, late, context.DeadlineExceeded)
		answer <- struct{}{} // answers the first request; the second one is for both other callers
		synctest.Wait()
		began := time.Now()
		<-limited.Done()
		synctest.Wait()
		if late[0] != 0 || time.Since(began) > time.Second {
			t.Errorf("the late caller got %v after %v", late, time.Since(began))
		}
		close(answer)
		callers.Wait()
		if late[0] != 0 || first[0] == second[0] || second[0] == 0 {
			t.Errorf("numbers are %v, %v and %v", late, first, second)
		}
	})
}

// Whatever callers and requests take, each caller ends within its time, and no number is given twice.
func TestNoCallerOverstaysAndNoNumberTwice(t *testing.T) {
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) { overstay(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func overstay(t *testing.T, random *rand.Rand) {
	var mu sync.Mutex // guards random, next and seen
	next, seen := uint64(1), map[uint64]bool{}
	ms := func(most int) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return time.Duration(random.IntN(most)) * time.Millisecond
	}
	g := New(2, 10, func(ctx context.Context, n int) (uint64, error) {
		mu.Lock()
		first := next
		next += uint64(n)
		mu.Unlock()
		select {
		case <-time.After(ms(30)):
			return first, nil
		case <-ctx.Done():
			return 0, ctx.Err() // the numbers are lost
		}
	})
	var callers sync.WaitGroup
	for range 60 {
		begin, patience, n := ms(50), ms(60), 1+int(ms(4)/time.Millisecond)
		callers.Go(func() {
			time.Sleep(begin)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			began, into := time.Now(), make([]uint64, n)
			err := g.Fill(ctx, into)
			if waited := time.Since(began); waited > patience {
				t.Errorf("a caller with %v waited for %v", patience, waited)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, number := range into {
				if err == nil && (number == 0 || seen[number]) {
					t.Errorf("%v", into)
				}
				seen[number] = true
			}
		})
	}
	callers.Wait()
}
